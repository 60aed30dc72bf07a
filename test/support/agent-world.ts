/**
 * The agent with everything real but the model: a home, a person's home and a workspace in a folder of their own, the
 * configuration that files there give, a sandbox, and threads that talk to a ScriptedProvider. Removed after the test.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type AgentDeps,
  createThreadManager,
  type RunOptions,
  type Thread,
  type ThreadManager,
  type TurnResult,
} from '../../src/agent/index.js';
import { createShellGrammarLoader } from '../../src/approvals/index.js';
import { type Config, type LoadOptions, loadConfig, parseOverride, restoreConfig } from '../../src/config/index.js';
import { createMcpServers, type McpServers } from '../../src/mcp-client/index.js';
import type { Approver, Event, Item, ModelInfo, ProviderSettings } from '../../src/protocol/index.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.js';
import { noTracer } from '../../src/util/index.js';
import { type ModelAnswerScript, SCRIPTED_MODEL, ScriptedProvider } from './scripted-provider.js';

export type LoadMore = Partial<LoadOptions> & { readonly c?: readonly string[] };

/** A turn and what was seen of it. */
export type Turn = TurnResult & {
  readonly events: readonly Event[];
  /** Completed items, in order. */
  readonly items: readonly Item[];
  /** The texts of its warnings. */
  readonly warnings: readonly string[];
};

export class AgentWorld {
  readonly root = realpathSync(mkdtempSync('/var/tmp/agent-test-'));
  readonly home = path.join(this.root, 'home');
  readonly cwd = path.join(this.root, 'work');
  /** The person's own home. */
  readonly user = path.join(this.root, 'user');
  readonly provider: ScriptedProvider;
  /** What the process would have logged. */
  readonly log: string[] = [];
  readonly sandbox: Sandbox;
  readonly #servers: McpServers;
  readonly #threads: ThreadManager[] = [];
  readonly #deps: Partial<AgentDeps>;
  readonly #model: Partial<ModelInfo>;

  constructor(
    answers: readonly ModelAnswerScript[] = [],
    more: { deps?: Partial<AgentDeps>; model?: Partial<ModelInfo>; provider?: Partial<ProviderSettings> } = {},
  ) {
    for (const folder of [this.home, this.cwd, this.user]) mkdirSync(folder);
    this.provider = new ScriptedProvider(answers, more.provider);
    this.#deps = more.deps ?? {};
    this.#model = more.model ?? {};
    this.sandbox = createSandbox({
      home: this.home,
      stateDir: path.join(this.home, 'state'),
      env: this.env(),
      warn: text => this.log.push(text),
    });
    this.#servers = createMcpServers({
      version: '0.0.0',
      home: this.home,
      env: this.env(),
      runner: this.sandbox,
      log: (_, message) => this.log.push(message),
      program: null,
    });
    onTestFinished(async () => {
      await Promise.all(this.#threads.map(threads => threads.close()));
      await this.#servers.close();
      await this.sandbox.close();
      rmSync(this.root, { recursive: true, force: true });
    });
  }

  /** Writes a file below the root (absolute paths as they are) and returns its path. */
  write(file: string, text: string | Buffer, mode = 0o644): string {
    const full = path.resolve(this.root, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, text, { mode });
    return full;
  }

  /** The environment of the process. */
  env(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.user, INTERPRETER_HOME: this.home, OPENAI_API_KEY: 'k' };
  }

  #loadOptions({ c = [], env = {}, overrides = [], ...more }: LoadMore): LoadOptions {
    return {
      env: { ...this.env(), ...env },
      process_cwd: this.cwd,
      front_door: 'mcp-server',
      system_file: path.join(this.root, 'system.toml'),
      overrides: [...c.map(one => parseOverride(one, '-c')), ...overrides],
      ...more,
    };
  }

  /** The configuration that the files give, with full access and without questions unless `more` says otherwise. */
  config(more: LoadMore = {}): Config {
    const defaults = ['model=scripted-model', 'sandbox_mode=danger-full-access', 'approval_policy=never'];
    return loadConfig(this.#loadOptions({ ...more, c: [...defaults, ...(more.c ?? [])] }));
  }

  deps(): AgentDeps {
    return {
      version: '0.0.0',
      env: this.env(),
      shell: '/bin/sh',
      extraPath: () => [],
      sandbox: this.sandbox,
      mcp: () => Promise.resolve(this.#servers),
      grammar: createShellGrammarLoader(),
      createProvider: () => this.provider,
      modelInfo: () => ({ ...SCRIPTED_MODEL, ...this.#model }),
      restoreConfig: stored => restoreConfig(this.#loadOptions({}), stored),
      tracer: noTracer,
      warn: text => this.log.push(text),
      ...this.#deps,
    };
  }

  /** A process of its own, as far as threads are concerned. Closed after the test. */
  manager(): ThreadManager {
    const manager = createThreadManager(this.deps(), this.home);
    this.#threads.push(manager);
    return manager;
  }

  thread(more: LoadMore = {}): Promise<Thread> {
    return this.manager().startThread(this.config(more), 'mcp');
  }
}

const approveAll: Approver = () => Promise.resolve({ type: 'approved' });

/** Runs one turn with this prompt. */
export async function runTurn(thread: Thread, prompt: string, options: Partial<RunOptions> = {}): Promise<Turn> {
  const events: Event[] = [];
  const { onEvent } = options;
  const result = await thread.run({
    input: [{ type: 'text', text: prompt }],
    approver: approveAll,
    signal: new AbortController().signal,
    ...options,
    onEvent: event => {
      events.push(event);
      onEvent?.(event);
    },
  });
  const items = events.flatMap(event => (event.type === 'item.completed' ? [event.item] : []));
  const warnings = items.flatMap(item => (item.type === 'warning' ? [item.message] : []));
  return { ...result, events, items, warnings };
}
