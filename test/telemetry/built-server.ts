/** The built program as an MCP server with a home of its own, a model on loopback, and a real client. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { type ModelServer, sse, startModelServer } from '../support/model-server.js';
import { isAlive } from '../support/processes.js';
import { until } from '../support/until.js';

const program = join(import.meta.dirname, '../../dist/interpreter.js');

export type World = {
  readonly home: string;
  readonly work: string;
  readonly model: ModelServer;
  /** Of the process; INTERPRETER_HOME is in it. */
  readonly env: Record<string, string>;
};

/** `config`: more of config.toml, before the tables of the provider. */
export async function createWorld(config = '', provider = ''): Promise<World> {
  // Not in /tmp, which commands may write to.
  const root = realpathSync(mkdtempSync('/var/tmp/telemetry-test-'));
  const model = await startModelServer();
  onTestFinished(async () => {
    await model.close();
    rmSync(root, { recursive: true, force: true });
  });
  const [home, work] = [join(root, 'home'), join(root, 'work')];
  mkdirSync(home);
  mkdirSync(work);
  writeFileSync(
    join(home, 'config.toml'),
    `model = "test-model"
model_provider = "local"
model_context_window = 100000
${config}
[model_providers.local]
name = "local"
base_url = "${model.url}"
wire_api = "responses"
${provider}
`,
  );
  const env = { PATH: process.env.PATH ?? '', HOME: root, INTERPRETER_HOME: home };
  return { home, work, model, env };
}

export type Session = {
  readonly client: Client;
  readonly pid: number;
  /** What the process wrote to stderr so far. */
  readonly stderr: () => string;
  call(args: object, meta?: object): Promise<CallResult>;
  /** Closes the client's side; resolves to the milliseconds until the process had ended. */
  end(): Promise<number>;
};

export type CallResult = { isError?: boolean; structuredContent?: { threadId: string; content: string } };

export type SessionOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Of Node itself. */
  readonly args?: readonly string[];
  /** To each approval. */
  readonly answer?: 'accept' | 'decline';
};

export async function startSession(
  world: World,
  { env = {}, args = [], answer = 'accept' }: SessionOptions = {},
): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args, program, 'mcp-server'],
    env: { ...world.env, ...env },
    cwd: world.work,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', piece => {
    stderr += String(piece);
  });
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () =>
    answer === 'accept'
      ? { action: 'accept' as const, content: { decision: 'approved' } }
      : { action: 'decline' as const },
  );
  await client.connect(transport);
  const pid = transport.pid ?? 0;
  const close = async () => {
    await client.close();
    await until(() => !isAlive(pid));
  };
  onTestFinished(close);
  return {
    client,
    pid,
    stderr: () => stderr,
    call: async (given, meta) =>
      (await client.callTool({
        name: 'codex',
        arguments: { cwd: world.work, ...given },
        ...(meta && { _meta: { ...meta } }),
      })) as CallResult,
    end: async () => {
      const started = performance.now();
      await close();
      return performance.now() - started;
    },
  };
}

/** Runs the built program to its end. */
export function runProgram(world: World, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const started = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    cwd: world.work,
    env: { ...world.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', piece => {
    stdout += String(piece);
  });
  child.stderr.on('data', piece => {
    stderr += String(piece);
  });
  return new Promise<{ status: number | null; stdout: string; stderr: string; ms: number }>(resolve => {
    child.on('close', status => resolve({ status, stdout, stderr, ms: performance.now() - started }));
  });
}

/** One answer of the model that calls a tool. */
export function callsTool(name: string, args: object, id = `call_${name}`): { stream: string[] } {
  return answerWith({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(args) });
}

export function says(text: string): { stream: string[] } {
  return answerWith({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  });
}

function answerWith(item: object): { stream: string[] } {
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 107,
  };
  return {
    stream: [
      sse({ type: 'response.created', response: { id: 'resp_1' } }, true),
      sse({ type: 'response.output_item.done', output_index: 0, item }, true),
      sse({ type: 'response.completed', response: { id: 'resp_1', output: [item], usage } }, true),
    ],
  };
}
