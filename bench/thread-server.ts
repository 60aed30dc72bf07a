/** The built MCP server and its client, for benches of threads. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { environment, type Place, program } from './place.js';

type Result = { readonly structuredContent: { readonly threadId: string; readonly status: string } };

export class BenchServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (result: Result | Error) => void>();
  #nextId = 1;

  private constructor(place: Place) {
    this.#child = spawn(process.execPath, [program, 'mcp-server'], {
      cwd: place.cwd,
      env: environment(place),
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
    await server.#request('tools/list', {});
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
