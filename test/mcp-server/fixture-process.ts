/** Builds the fixture server once per test file and starts it as a process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { build } from 'esbuild';
import { LineClient } from './line-client.js';

export type Fixture = { readonly args: (settings?: object) => string[]; readonly remove: () => Promise<void> };

export async function buildFixture(): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-fixture-'));
  const outfile = join(folder, 'server.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'fixture-server.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    entryNames: 'server',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    // Native code; the fixture never gets there.
    external: ['@napi-rs/keyring'],
    logLevel: 'error',
  });
  return {
    args: (settings = {}) => [outfile, JSON.stringify(settings)],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export type FixtureProcess = {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly client: LineClient;
  readonly stderr: () => string;
  /** Resolves when `pattern` was found `times` times in what the process logged. */
  readonly logged: (pattern: string, times?: number) => Promise<void>;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
};

export function startFixture(fixture: Fixture, settings?: object): FixtureProcess {
  const child = spawn(process.execPath, fixture.args(settings), { stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += String(chunk);
  });
  return {
    child,
    client: new LineClient(child.stdin, child.stdout),
    stderr: () => stderr,
    logged: async (pattern, times = 1) => {
      while (stderr.split(pattern).length <= times) await once(child.stderr, 'data');
    },
    exited: new Promise(resolve => child.on('exit', (code, signal) => resolve({ code, signal }))),
  };
}
