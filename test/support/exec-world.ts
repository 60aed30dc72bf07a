/**
 * The built program with everything real but the model: a home with a configuration, a workspace, a model server on
 * loopback. Removed after the test, and whatever still runs is ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonlEvent, JsonlItem } from '../../src/protocol/index.js';
import { type Body, type ModelServer, type Reply, startModelServer } from './model-server.js';

export const PROGRAM = path.join(import.meta.dirname, '../../dist/interpreter.js');

export type RunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds; null = there is none (the default), true = a pipe that stays open and silent. */
  readonly input?: string | Buffer | null | true;
  readonly onStart?: (child: ChildProcess) => void;
};

export type Ran = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
};

/** A run with --json. */
export type RanJson = Ran & {
  readonly events: readonly JsonlEvent[];
  /** Completed items. */
  readonly items: readonly JsonlItem[];
  readonly threadId: string;
};

export class ExecWorld {
  readonly root = realpathSync(mkdtempSync('/var/tmp/exec-test-'));
  readonly home = path.join(this.root, 'home');
  readonly cwd = path.join(this.root, 'work');
  readonly server: ModelServer;
  readonly #children = new Set<ChildProcess>();

  private constructor(server: ModelServer, config: string) {
    this.server = server;
    for (const folder of [this.home, this.cwd, path.join(this.root, 'user')]) mkdirSync(folder);
    this.write('home/config.toml', `${CONFIG}${config}${providerTable(server.url)}`);
  }

  /** `config`: lines of config.toml, before its tables. */
  static async create(replies: readonly (Reply | ((body: Body) => Reply))[], config = ''): Promise<ExecWorld> {
    const server = await startModelServer();
    server.reply(
      ...replies.map(reply => (typeof reply === 'function' ? ({ body }: { body: Body }) => reply(body) : reply)),
    );
    const world = new ExecWorld(server, config);
    onTestFinished(async () => {
      await Promise.all([...world.#children].map(killed));
      await server.close();
      // What a killed program had started may take a moment longer than it.
      rmSync(world.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    });
    return world;
  }

  /** Below the root; returns the path. */
  write(file: string, text: string | Buffer): string {
    const full = path.resolve(this.root, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  }

  read(file: string): string {
    return readFileSync(path.resolve(this.root, file), 'utf8');
  }

  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: path.join(this.root, 'user'),
      INTERPRETER_HOME: this.home,
      ...more,
    };
  }

  /** The user message that a request ended with. */
  prompt(request = -1): string {
    const input = this.server.requests.at(request)?.body['input'] as { role?: string; content?: { text?: string }[] }[];
    return (
      input
        ?.findLast(item => item.role === 'user')
        ?.content?.map(part => part.text ?? '')
        .join('\n') ?? ''
    );
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const { cwd = this.cwd, env, input = null, onStart } = options;
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        cwd,
        env: this.env(env),
        stdio: [input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
      this.#children.add(child);
      let [out, err] = ['', ''];
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
      child.stdin?.on('error', () => {});
      child.on('error', reject);
      child.on('close', (code, signal) => {
        this.#children.delete(child);
        resolve({ code, signal, out, err });
      });
      if (input !== null && input !== true) child.stdin?.end(input);
      onStart?.(child);
    });
  }

  /** `exec` outside of git, for a person. */
  exec(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.run(['exec', '--skip-git-repo-check', ...args], options);
  }

  /** `exec --json` outside of git. */
  async json(args: readonly string[], options: RunOptions = {}): Promise<RanJson> {
    const ran = await this.exec(['--json', ...args], options);
    const lines = ran.out.split('\n').filter(line => line !== '');
    const events = lines.map(line => JSON.parse(line) as JsonlEvent);
    const items = events.flatMap(event => (event.type === 'item.completed' ? [event.item] : []));
    const started = events.find(event => event.type === 'thread.started');
    return { ...ran, events, items, threadId: started?.thread_id ?? '' };
  }
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = child.exitCode !== null || child.signalCode !== null ? null : once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const CONFIG = `model = "gpt-4.1"
model_provider = "mock"
sandbox_mode = "danger-full-access"
`;

function providerTable(url: string): string {
  return `
[model_providers.mock]
name = "mock"
base_url = "${url}"
request_max_retries = 0
stream_max_retries = 1
`;
}
