/**
 * Runs the built server once, with one `codex` call against a model in this process, and other commands, so that they
 * save the code cache of everything that is loaded then. The cache is for the machine and the Node that build.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const LIMIT_MS = 20_000;
/** What is started often or waited for by a person. */
const COMMANDS = [
  ['exec', '--skip-git-repo-check', '--json', 'Warm up.'],
  ['exec', '--skip-git-repo-check', 'Warm up.'],
  ['sandbox', '-s', 'danger-full-access', '--', 'true'],
  ['threads', 'list'],
  ['config', 'show'],
  ['mcp', 'list'],
  ['doctor'],
];
/** The model's answer. */
const SAID = 'Warmed up.';

/** `dist`: the finished build. Returns what happened, as one line; a failure costs speed only and is no error. */
export async function warmUp(dist: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'interpreter-warm-up-'));
  const model = createModel();
  try {
    model.listen(0, '127.0.0.1');
    await once(model, 'listening');
    const answer = await callOnce(dist, folder, (model.address() as AddressInfo).port);
    for (const args of COMMANDS) await runOnce(dist, folder, args);
    const names = await readdir(join(dist, '.cache'), { recursive: true });
    const note = answer.includes(SAID) ? '' : `, not of a whole call: the server answered ${answer.slice(0, 500)}`;
    return `code cache: ${names.filter(name => name.endsWith('.js')).length} files${note}`;
  } catch (error) {
    return `code cache: none, starting will be slower (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the line that answered the call. */
async function callOnce(dist: string, folder: string, port: number): Promise<string> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  await writeFile(join(home, 'config.toml'), configFor(port));
  const child = spawn(process.execPath, [join(dist, 'interpreter.js'), 'mcp-server'], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      INTERPRETER_HOME: home,
      INTERPRETER_SAVE_CODE_CACHE: 'at-exit',
      // Telemetry is loaded too; what it sends at the end is answered by the model and means nothing.
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    },
    stdio: 'pipe',
  });
  const exited = once(child, 'exit');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  child.stderr.resume();
  child.stdin.on('error', () => {}); // the server may already be gone; the missing answer tells
  try {
    const answers = readAnswers(child);
    const request = (id: number, method: string, params: unknown) => send(child, { id, method, params });
    request(1, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'warm-up', version: '1' },
    });
    await answers(1);
    send(child, { method: 'notifications/initialized' });
    request(2, 'tools/list', {});
    await answers(2);
    const call = { prompt: 'Warm up.', cwd, sandbox: 'danger-full-access', 'approval-policy': 'never' };
    request(3, 'tools/call', { name: 'codex', arguments: call });
    const answer = await answers(3);
    child.stdin.end();
    await exited;
    return answer;
  } finally {
    clearTimeout(limit);
    child.kill('SIGKILL');
  }
}

/** One run with the configuration that is there by now. */
async function runOnce(dist: string, folder: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(dist, 'interpreter.js'), ...args], {
    cwd: join(folder, 'work'),
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      INTERPRETER_HOME: join(folder, 'home'),
      INTERPRETER_SAVE_CODE_CACHE: 'at-exit',
    },
    stdio: 'ignore',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  await once(child, 'exit');
}

function configFor(port: number): string {
  return `model = "warm-up"
model_provider = "warm-up"
[model_providers.warm-up]
name = "warm-up"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
`;
}

function send(child: ChildProcessWithoutNullStreams, message: object): void {
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** Gives a function that waits for the line with the answer to an id; rejects when the server ends without it. */
function readAnswers(child: ChildProcessWithoutNullStreams): (id: number) => Promise<string> {
  const waiting = new Map<unknown, (line: string) => void>();
  const lines = createInterface({ input: child.stdout });
  lines.on('line', line => waiting.get((JSON.parse(line) as { id?: unknown }).id)?.(line));
  const ended = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Error('the server ended before it answered')));
  });
  ended.catch(() => {}); // also rejects after the last answer, when nobody waits for it
  return id => Promise.race([new Promise<string>(resolve => waiting.set(id, resolve)), ended]);
}

/** Speaks just enough of the Responses wire API: one command, then a final message. */
function createModel(): Server {
  let requests = 0;
  return createServer((request, response) => {
    request.resume();
    const item = requests++ === 0 ? command : message;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'resp_1', output: [item], usage } },
    ]) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
}

const command = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'exec_command',
  arguments: JSON.stringify({ cmd: 'true' }),
};
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: SAID, annotations: [] }],
};
const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
};
