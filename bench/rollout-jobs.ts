/** Runs jobs of `rollout-job.ts`, each in a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { prepareHome } from './rollout-home.js';

export type Figures = { readonly ms: number; readonly mb: number };
export type RunJob = (name: string) => Promise<Figures>;

/** Makes a home and calls `use` with the way to run jobs in it. */
export async function withJobs<T>(use: (run: RunJob) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'bench-rollout-'));
  // Below the packages it needs. Bundled, so that compiling TypeScript is in nobody's figures.
  const folder = mkdtempSync(join(import.meta.dirname, '../node_modules/.bench-'));
  try {
    const outfile = join(folder, 'job.mjs');
    const entry = join(import.meta.dirname, 'rollout-job.ts');
    const external = ['@photostructure/sqlite', '@napi-rs/keyring'];
    await build({ bundle: true, platform: 'node', format: 'esm', external, entryPoints: [entry], outfile });
    prepareHome(home);
    return await use(async name => runJob(outfile, name, home));
  } finally {
    rmSync(home, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

function runJob(program: string, name: string, home: string): Figures {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, name, home], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
  return JSON.parse(stdout) as Figures;
}
