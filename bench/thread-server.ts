/** An MCP server with a model on loopback, for benches of threads. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = join(import.meta.dirname, '../dist/interpreter.js');

/** `requestedAt`: when each request had arrived whole, `performance.now()`. `ms`: the time spent in the model so far. */
export type BenchModel = { readonly url: string; readonly requestedAt: number[]; ms: number; close(): void };

type Input = { readonly type: string };

/** `says`: the items of the answer to a request with this history. `delayMs`: how long it thinks. */
export async function startModel(
  says: (input: readonly Input[]) => readonly object[],
  delayMs = 0,
): Promise<BenchModel> {
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const arrived = performance.now();
      model.requestedAt.push(arrived);
      const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: Input[] };
      const items = says(input).map((item, output_index) => ({
        type: 'response.output_item.done',
        output_index,
        item,
      }));
      const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
      const end = { type: 'response.completed', response: { id: 'r', status: 'completed', usage } };
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        model.ms += performance.now() - arrived;
        response.end([...items, end].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
      }, delayMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model: BenchModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requestedAt: [],
    ms: 0,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return model;
}

export type Place = { readonly home: string; readonly cwd: string; remove(): Promise<void> };

export async function makePlace(model: BenchModel): Promise<Place> {
  const folder = await mkdtemp('/var/tmp/interpreter-bench-');
  const place = { home: join(folder, 'home'), cwd: join(folder, 'work') };
  await Promise.all([mkdir(place.home), mkdir(place.cwd)]);
  const config = `model = "gpt-5.4"
model_provider = "bench"
sandbox_mode = "danger-full-access"
[model_providers.bench]
name = "bench"
base_url = "${model.url}"
`;
  await writeFile(join(place.home, 'config.toml'), config);
  return { ...place, remove: () => rm(folder, { recursive: true, force: true }) };
}

type Result = { readonly structuredContent: { readonly threadId: string; readonly status: string } };

export class BenchServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (result: Result | Error) => void>();
  #nextId = 1;

  private constructor({ home, cwd }: Place) {
    // Node reads extra certificates at its start, which takes longer than all else.
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
    this.#child = spawn(process.execPath, [program, 'mcp-server'], {
      cwd,
      env: { ...env, HOME: home, INTERPRETER_HOME: home },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.on('close', code => {
      for (const settle of this.#waiting.values()) settle(new Error(`the server ended with status ${code}`));
    });
    if (this.#child.stdout === null) return;
    createInterface({ input: this.#child.stdout }).on('line', line => {
      const { id, result } = JSON.parse(line) as { id?: number; result: Result };
      if (id === undefined) return;
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  static async start(place: Place): Promise<BenchServer> {
    const server = new BenchServer(place);
    await server.#request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    return server;
  }

  /** Resolves to the thread id. */
  async call(tool: 'codex' | 'codex-reply', args: Record<string, unknown>): Promise<string> {
    const { structuredContent } = await this.#request('tools/call', { name: tool, arguments: args });
    if (structuredContent.status !== 'completed') throw new Error(JSON.stringify(structuredContent));
    return structuredContent.threadId;
  }

  #request(method: string, params: object): Promise<Result> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, result => (result instanceof Error ? reject(result) : resolve(result)));
      this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  /** Peak memory so far, MB. Linux only. */
  peakMemory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await once(this.#child, 'close');
  }
}

export const say = (text: string): object => ({
  type: 'message',
  id: `msg_${Math.random().toString(36).slice(2)}`,
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
