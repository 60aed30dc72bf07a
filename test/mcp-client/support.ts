/** Servers, threads and calls for the tests of this room: real processes, real HTTP, a real runner. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createMcpServers,
  type McpClientDeps,
  type McpServers,
  type ThreadServers,
} from '../../src/mcp-client/index.js';
import type { Event, Item, McpServerSettings, ToolOutput } from '../../src/protocol/index.js';
import { createSandbox } from '../../src/sandbox/index.js';
import { ExecSessions, type ToolContext } from '../../src/tools/index.js';
import { noTracer } from '../../src/util/index.js';
import { until } from '../support/until.js';

const fixtures = path.join(import.meta.dirname, '../fixtures/mcp-servers');
const NEVER = new AbortController().signal;

type Settings = Partial<Omit<McpServerSettings, 'transport'>>;
type Transport = McpServerSettings['transport'];
export type Outcome = { output: ToolOutput; text: string; is_error: boolean; items: Item[] };
export type CallMore = Partial<Pick<ToolContext, 'signal' | 'ask' | 'output_budget_bytes' | 'span'>>;

/** One process of ours, as far as MCP servers are concerned. Everything it started is gone after the test. */
export class McpWorld {
  readonly root = realpathSync(mkdtempSync('/var/tmp/mcp-test-'));
  readonly home = path.join(this.root, 'home');
  readonly cwd = path.join(this.root, 'work');
  readonly log: string[] = [];
  readonly env: Record<string, string> = { PATH: process.env['PATH'] ?? '' };
  readonly #closers: (() => Promise<void>)[] = [];

  constructor() {
    for (const folder of [this.home, this.cwd]) mkdirSync(folder);
    onTestFinished(async () => {
      await this.close();
      rmSync(this.root, { recursive: true, force: true });
    });
  }

  /** What a process of ours would give the room; each call stands for another process. */
  deps(): McpClientDeps {
    const sandbox = createSandbox({
      home: this.home,
      stateDir: path.join(this.home, 'state'),
      env: this.env,
      warn: text => this.log.push(text),
    });
    this.#closers.push(() => sandbox.close());
    return {
      version: '0.0.0',
      home: this.home,
      env: this.env,
      runner: sandbox,
      log: (level, message) => this.log.push(`${level} ${message}`),
      program: null,
    };
  }

  servers(): McpServers {
    const servers = createMcpServers(this.deps());
    this.#closers.unshift(() => servers.close());
    return servers;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }

  /** Settings of the scripted fixture; it logs to `<name>.log`. */
  scripted(
    spec: object = {},
    settings: Settings & { cwd?: string; env?: Record<string, string> } = {},
  ): McpServerSettings {
    const text = JSON.stringify({ log: this.logFile(settings.name), ...spec });
    return this.program([path.join(fixtures, 'scripted.mjs'), this.#argument(text)], settings);
  }

  /** A system limits the length of one argument. */
  #argument(text: string): string {
    if (text.length < 100_000) return text;
    const file = path.join(this.root, `spec-${text.length}.json`);
    writeFileSync(file, text);
    return file;
  }

  /** Settings of a program that runs in Node. */
  program(
    args: readonly string[],
    { cwd, env = {}, ...settings }: Settings & { cwd?: string; env?: Record<string, string> } = {},
  ): McpServerSettings {
    return server(
      {
        type: 'stdio',
        command: process.execPath,
        args,
        env: { ...this.env, ...env },
        ...(cwd === undefined ? {} : { cwd }),
      },
      settings,
    );
  }

  logFile(name = 'fk'): string {
    return path.join(this.root, `${name}.log`);
  }

  /** What the scripted fixture has seen. */
  seen(name = 'fk'): Record<string, ReturnType<typeof JSON.parse>>[] {
    const file = this.logFile(name);
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line));
  }

  starts(name = 'fk'): number {
    return this.seen(name).filter(line => 'start' in line).length;
  }

  /** A thread whose first turn has begun. */
  async thread(
    settings: readonly McpServerSettings[],
    more: { servers?: McpServers; cwd?: string; search?: boolean } = {},
  ): Promise<TestThread> {
    const { servers = this.servers(), cwd = this.cwd, search = true } = more;
    const thread = new TestThread(servers.forThread(settings, { cwd, search }), cwd);
    await thread.beginTurn();
    return thread;
  }
}

export class TestThread {
  readonly servers: ThreadServers;
  readonly cwd: string;
  readonly changes: string[] = [];
  missing: { server: string; error: string }[] = [];
  readyMs = 0;
  #end: () => void = () => {};
  #calls = 0;

  constructor(servers: ThreadServers, cwd: string) {
    this.servers = servers;
    this.cwd = cwd;
    onTestFinished(() => this.#end());
  }

  async beginTurn(): Promise<void> {
    this.#end();
    const started = performance.now();
    this.#end = this.servers.beginTurn(({ server: name, status }) => this.changes.push(`${name} ${status.state}`));
    this.missing = await this.servers.ready(NEVER);
    this.readyMs = performance.now() - started;
  }

  endTurn(): void {
    this.#end();
  }

  names(): string[] {
    return this.servers.names();
  }

  isStarting(): boolean {
    return this.servers.reports().some(({ status }) => status.state === 'starting');
  }

  state(server: string): string {
    const status = this.servers.reports().find(report => report.server === server)?.status;
    return status?.state === 'failed' ? `failed: ${status.error}` : (status?.state ?? 'unknown');
  }

  /** As a model's call goes, without the decision on it. A slow machine may not have started the server in time. */
  async call(name: string, args: unknown = {}, more: CallMore = {}): Promise<Outcome> {
    await until(() => this.servers.find(name) !== undefined || !this.isStarting());
    const tool = this.servers.find(name);
    if (!tool) throw new Error(`no tool ${name}; there are ${this.names().join(', ')}`);
    const parsed = tool.parse(typeof args === 'string' ? args : JSON.stringify(args));
    if (!parsed.ok) return { output: parsed.message, text: parsed.message, is_error: true, items: [] };
    const context = this.#context(more);
    const { events, ...facts } = context;
    const plan = await tool.plan(parsed.input, facts);
    if (plan.type !== 'act') throw new Error(`plan ${plan.type}`);
    const { output, is_error } = await tool.run(parsed.input, facts);
    const items = events.flatMap(event => (event.type === 'item.completed' ? [event.item] : []));
    return { output, text: textOf(output), is_error, items };
  }

  #context(more: CallMore): ToolContext & { events: Event[] } {
    const events: Event[] = [];
    return {
      call_id: `call_${++this.#calls}`,
      cwd: this.cwd,
      workspace: this.cwd,
      policy: { type: 'danger-full-access' },
      home: this.cwd,
      tmpdir: null,
      shell: '/bin/sh',
      allow_login_shell: true,
      sandboxed: false,
      env: {},
      runner: { start: () => Promise.reject(new Error('no commands here')) },
      sessions: new ExecSessions(),
      signal: NEVER,
      emit: event => events.push(event),
      span: noTracer.span(''),
      output_budget_bytes: 40_000,
      parsed_command: [],
      max_poll_ms: 1000,
      events,
      ...more,
    };
  }
}

export function server(transport: Transport, settings: Settings = {}): McpServerSettings {
  return {
    name: 'fk',
    required: false,
    startup_timeout_ms: 10_000,
    tool_timeout_ms: 10_000,
    enabled_tools: null,
    disabled_tools: [],
    default_tools_approval_mode: 'auto',
    tool_approval_modes: {},
    supports_parallel_tool_calls: false,
    ...settings,
    transport,
  };
}

export function http(url: string, more: Partial<Extract<Transport, { type: 'http' }>> = {}, settings: Settings = {}) {
  return server({ type: 'http', url, http_headers: {}, env_http_headers: {}, scopes: [], ...more }, settings);
}

export function textOf(output: ToolOutput): string {
  if (typeof output === 'string') return output;
  return output.map(part => (part.type === 'input_image' ? `[${part.image_url}]` : part.text)).join('\n');
}
