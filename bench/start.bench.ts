import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleaved, milliseconds, type Table } from './measure.js';

export const name = 'start';

const program = join(import.meta.dirname, '../dist/interpreter.js');

/** From the start of the process to its first useful output. Needs a build. */
export async function run(): Promise<Table> {
  const home = await mkdtemp(join(tmpdir(), 'interpreter-bench-'));
  try {
    const rows = await interleaved(
      [
        { label: 'node -e 0', once: () => milliseconds(() => ended(start(['-e', '0'], home))) },
        { label: 'interpreter --version', once: () => milliseconds(() => ended(start([program, '--version'], home))) },
        { label: 'interpreter mcp-server, initialize answered', once: () => initialized(home) },
      ],
      15,
    );
    return { unit: 'ms', rows };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function start(args: readonly string[], home: string): ChildProcess {
  // Node reads extra certificates at its start, which takes longer than all else.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return spawn(process.execPath, args, {
    env: { ...env, INTERPRETER_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function ended(child: ChildProcess): Promise<void> {
  child.stdout?.resume();
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with status ${status}`);
}

async function initialized(home: string): Promise<number> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const started = performance.now();
  const child = start([program, 'mcp-server'], home);
  const end = ended(child);
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const answer = child.stdout === null ? Promise.resolve() : once(child.stdout, 'data');
  await Promise.race([answer, end.then(() => Promise.reject(new Error('the server ended before it answered')))]);
  const time = performance.now() - started;
  child.stdin?.end();
  await end;
  return time;
}
