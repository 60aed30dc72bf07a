/**
 * Turns (one command, one message, a model on loopback that answers at once) in a server that has been running for a
 * while: without telemetry, with a collector that answers, and with one that accepts everything and never answers.
 * Bound: the last one at most 5 % above the first. And the same for the start: until `initialize` and the first turn
 * are answered.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { interleaved, milliseconds, type Row, type Table, type Variant } from './measure.js';

export const name = 'telemetry';

const program = join(import.meta.dirname, '../dist/interpreter.js');
const RUNS = 120;
/** Turns before those that count: the code of a server that has been running for a while is compiled. */
const WARM_UP = 30;

/** Needs a build. */
export async function run(): Promise<Table> {
  const folder = await mkdtemp('/var/tmp/interpreter-bench-');
  const servers = [createModel(), createCollector(true), createCollector(false)];
  const [model = 0, answering = 0, silent = 0] = await Promise.all(servers.map(portOf));
  const sessions: Session[] = [];
  const session = async (label: string, collector: number | null) => {
    const opened = await open(join(folder, label), model, collector);
    sessions.push(opened);
    return opened;
  };
  try {
    const off = await session('off', null);
    // What differs between these two is noise.
    const alike = await session('off-too', null);
    const sent = await session('answering', answering);
    const hanging = await session('silent', silent);
    for (const { turn } of sessions) for (let at = 0; at < WARM_UP; at++) await turn();
    const first = (label: string, collector: number | null) => ({
      label: `start and first turn, ${label}`,
      once: () => firstTurn(join(folder, 'first'), model, collector),
    });
    const turns = await shuffled(
      [
        { label: 'turn, telemetry off', once: () => milliseconds(() => off.turn()) },
        { label: 'turn, telemetry off, another server', once: () => milliseconds(() => alike.turn()) },
        { label: 'turn, collector answers', once: () => milliseconds(() => sent.turn()) },
        { label: 'turn, collector never answers', once: () => milliseconds(() => hanging.turn()) },
      ],
      RUNS,
    );
    const starts = await interleaved([first('telemetry off', null), first('collector never answers', silent)], 10);
    return { unit: 'ms', rows: [...turns, ...starts] };
  } finally {
    for (const opened of sessions) opened.end();
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** In an order that changes: what a turn leaves to be done after its answer falls into the one behind it. */
async function shuffled(variants: readonly Variant[], runs: number): Promise<readonly Row[]> {
  const rows = variants.map(variant => ({ ...variant, samples: [] as number[] }));
  for (let run = 0; run < runs; run++) {
    const order = rows.map(row => ({ row, at: Math.random() })).sort((a, b) => a.at - b.at);
    for (const { row } of order) row.samples.push(await row.once());
  }
  return rows;
}

type Session = { turn(): Promise<void>; end(): void; readonly gone: Promise<unknown> };

async function firstTurn(folder: string, model: number, collector: number | null): Promise<number> {
  const started = performance.now();
  const session = await open(folder, model, collector);
  await session.turn();
  const time = performance.now() - started;
  session.end();
  await session.gone;
  return time;
}

async function open(folder: string, model: number, collector: number | null): Promise<Session> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  await Promise.all([mkdir(home, { recursive: true }), mkdir(cwd, { recursive: true })]);
  await writeFile(join(home, 'config.toml'), configFor(model, collector));
  const child = spawn(process.execPath, [program, 'mcp-server'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: folder, INTERPRETER_HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const request = requests(child);
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  const call = { prompt: 'go', cwd, sandbox: 'workspace-write', 'approval-policy': 'never' };
  return {
    turn: async () => {
      const answer = await request('tools/call', { name: 'codex', arguments: call });
      if (!answer.includes('Done.')) throw new Error(`The turn failed: ${answer.slice(0, 500)}`);
    },
    end: () => child.stdin.end(),
    gone: once(child, 'exit'),
  };
}

function configFor(model: number, collector: number | null): string {
  const exporter = `{ otlp-http = { endpoint = "http://127.0.0.1:${collector}" } }`;
  const otel = `[otel]\nexporter = ${exporter}\ntrace_exporter = ${exporter}\nmetrics_exporter = ${exporter}\n`;
  return `model = "bench"
model_provider = "bench"
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:${model}/v1"
wire_api = "responses"
${collector === null ? '' : otel}`;
}

/** Sends a request and resolves to the line that answers it. */
function requests(child: ChildProcessByStdio<Writable, Readable, null>) {
  const waiting = new Map<unknown, (line: string) => void>();
  let id = 0;
  createInterface({ input: child.stdout }).on('line', line =>
    waiting.get((JSON.parse(line) as { id?: unknown }).id)?.(line),
  );
  return (method: string, params: object): Promise<string> => {
    id++;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise(resolve => waiting.set(id, resolve));
  };
}

function createCollector(answers: boolean): Server {
  return createServer((request, response) => {
    request.resume();
    if (answers) request.on('end', () => response.end());
  });
}

/** A command and a message in turn, by what the request ends with. */
function createModel(): Server {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', piece => {
      body += String(piece);
    });
    request.on('end', () => {
      const { input } = JSON.parse(body) as { input: { type?: string }[] };
      const item = input.at(-1)?.type === 'function_call_output' ? MESSAGE : COMMAND;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'resp_1', output: [item] } },
      ]) {
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => socket.setNoDelay(true));
  return server;
}

const COMMAND = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'exec_command',
  arguments: JSON.stringify({ cmd: 'true', login: false }),
};
const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
};

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
