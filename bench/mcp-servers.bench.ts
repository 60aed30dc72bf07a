/**
 * What configured MCP servers cost the first `codex` call of a process, from the call to its answer: seven servers that
 * work and three that are dead (one does not exist, one ends at once, one never answers). Needs a build.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { interleaved, type Table } from './measure.js';

export const name = 'mcp-servers';

const program = join(import.meta.dirname, '../dist/interpreter.js');
const scripted = join(import.meta.dirname, '../test/fixtures/mcp-servers/scripted.mjs');
const RUNS = 9;

export async function run(): Promise<Table> {
  const model = await startModel();
  const homes: string[] = [];
  const newHome = async (servers: string) => {
    const home = await mkdtemp(join(tmpdir(), 'interpreter-bench-'));
    homes.push(home);
    await writeFile(join(home, 'config.toml'), configOf(model.url, servers));
    return home;
  };
  try {
    const [without, known, dead] = await Promise.all([newHome(''), newHome(tenServers()), newHome(deadServers())]);
    const rows = await interleaved(
      [
        { label: 'without servers', once: () => firstCall(without) },
        { label: 'ten servers, three of them dead', once: () => firstCall(known) },
        { label: 'the three dead ones alone', once: () => firstCall(dead) },
        { label: 'the ten, never seen before', once: async () => firstCall(await newHome(tenServers())) },
      ],
      RUNS,
    );
    return { unit: 'ms', rows };
  } finally {
    model.close();
    await Promise.all(homes.map(home => rm(home, { recursive: true, force: true })));
  }
}

async function firstCall(home: string): Promise<number> {
  // Node reads extra certificates at its start, which takes longer than all else.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const child = spawn(process.execPath, [program, 'mcp-server'], {
    env: { ...env, INTERPRETER_HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const end = once(child, 'close');
  const answer = (id: number) => answerOf(child, id);
  send(child, 1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  await answer(1);
  send(child, 2, 'tools/list', {});
  await answer(2);
  // A host has something else to do before it makes its first call.
  await new Promise(resolve => setTimeout(resolve, 500));
  const started = performance.now();
  send(child, 3, 'tools/call', { name: 'codex', arguments: { prompt: 'hello', cwd: home } });
  await answer(3);
  const time = performance.now() - started;
  // What was learnt about the servers is kept for the next run.
  await new Promise(resolve => setTimeout(resolve, 1500));
  child.stdin?.end();
  await end;
  return time;
}

function send(child: ChildProcess, id: number, method: string, params: object): void {
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
}

async function answerOf({ stdout }: ChildProcess, id: number): Promise<void> {
  if (stdout === null) throw new Error('no output');
  const lines = createInterface({ input: stdout });
  for await (const line of lines) if ((JSON.parse(line) as { id?: number }).id === id) return;
  throw new Error('the server ended before it answered');
}

function configOf(url: string, servers: string): string {
  return `model = "gpt-4.1"
model_provider = "bench"
sandbox_mode = "danger-full-access"
approval_policy = "never"
${servers}
[model_providers.bench]
name = "bench"
base_url = "${url}"
`;
}

function tenServers(): string {
  const working = Array.from({ length: 7 }, (_, i) => serverOf(`works_${i}`, { tools: [{ name: 'echo' }] }));
  return [...working, deadServers()].join('');
}

function deadServers(): string {
  return [
    '\n[mcp_servers.missing]\ncommand = "/nonexistent/server"\n',
    serverOf('ends', { dieOn: 'start' }),
    serverOf('silent', { silent: ['server/discover', 'initialize'] }),
  ].join('');
}

function serverOf(server: string, spec: object): string {
  const args = [scripted, JSON.stringify(spec)];
  return `\n[mcp_servers.${server}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\nstartup_timeout_sec = 1\n`;
}

/** Answers every request with one message. */
async function startModel(): Promise<{ url: string; close: () => void }> {
  const content = [{ type: 'output_text', text: 'hello', annotations: [] }];
  const events = [
    { type: 'response.created', response: { id: 'r' } },
    { type: 'response.output_item.done', item: { type: 'message', id: 'm', role: 'assistant', content } },
    { type: 'response.completed', response: { id: 'r', status: 'completed' } },
  ];
  const stream = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
