/**
 * What a sandboxed `true` costs. The bound: what our sandbox adds to a bare start is at most three times what
 * bubblewrap with one mount adds (the two rows `added`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandSpec, SandboxPolicy } from '../src/protocol/index.js';
import { createSandbox, type Sandbox } from '../src/sandbox/index.js';
import { interleaved, milliseconds, type Row, type Table, type Variant } from './measure.js';

const RUNS = 50;

export const name = 'sandbox';

const WORKSPACE_WRITE: SandboxPolicy = {
  type: 'workspace-write',
  writable_roots: [],
  network_access: false,
  exclude_tmpdir_env_var: false,
  exclude_slash_tmp: false,
  allow_unix_sockets: false,
};

export async function run(): Promise<Table> {
  const root = mkdtempSync('/var/tmp/oi-bench-');
  mkdirSync(join(root, 'ws/.git/refs'), { recursive: true });
  mkdirSync(join(root, 'tmp'));
  const sandbox = createSandbox({
    home: join(root, 'home'),
    stateDir: join(root, 'home/sandbox'),
    env: process.env,
    warn: message => console.error(message),
  });
  try {
    return { unit: 'ms', rows: await measure(sandbox, root) };
  } finally {
    await sandbox.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** The last two rows are differences within a round. */
async function measure(sandbox: Sandbox, root: string): Promise<Table['rows']> {
  const variant = (label: string, body: () => Promise<void>): Variant => ({
    label,
    once: async () => {
      const ms = await milliseconds(body);
      // What is tidied up after one command must not slow down the next.
      await sleep(20);
      return ms;
    },
  });
  const rows = await interleaved(
    [
      variant('bare spawn', () => plain(['/bin/true'])),
      variant('bwrap, one mount', () => plain(['bwrap', '--bind', '/', '/', '/bin/true'])),
      variant('ours, danger-full-access', () => ours(sandbox, root, { type: 'danger-full-access' })),
      variant('ours, read-only', () => ours(sandbox, root, { type: 'read-only' })),
      variant('ours, workspace-write', () => ours(sandbox, root, WORKSPACE_WRITE)),
    ],
    RUNS,
  );
  return [...rows, added(rows, 'bwrap, one mount'), added(rows, 'ours, workspace-write')];
}

function added(rows: readonly Row[], label: string): Row {
  const of = (wanted: string) => rows.find(row => row.label === wanted)?.samples ?? [];
  const bare = of('bare spawn');
  return { label: `added: ${label}`, samples: of(label).map((ms, i) => ms - (bare[i] ?? 0)) };
}

async function plain(argv: readonly string[]): Promise<void> {
  const child = spawn(argv[0] ?? '', argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  await once(child, 'exit');
}

async function ours(sandbox: Sandbox, root: string, policy: SandboxPolicy): Promise<void> {
  const workspace = join(root, 'ws');
  const env = { PATH: process.env['PATH'] ?? '', HOME: root, TMPDIR: join(root, 'tmp') };
  const spec: CommandSpec = { argv: ['/bin/true'], cwd: workspace, workspace, env, policy };
  const command = await sandbox.start(spec);
  if ('type' in command) throw new Error(command.message);
  command.onOutput(() => {});
  const result = await command.ended;
  if (result.type !== 'exited' || result.exit_code !== 0) throw new Error(JSON.stringify(result));
}
