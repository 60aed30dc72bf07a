/**
 * What a sandboxed command costs. `npx tsx bench/sandbox.bench.ts [runs]` prints medians in milliseconds, and ends with
 * exit code 1 when our sandbox adds more than three times what bubblewrap with one mount adds to a bare start.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandSpec, SandboxPolicy } from '../src/protocol/index.js';
import { createSandbox } from '../src/sandbox/index.js';

const RUNS = Number(process.argv[2] ?? 50);
const MAX_RATIO = 3;

const root = mkdtempSync('/var/tmp/oi-bench-');
const workspace = join(root, 'ws');
mkdirSync(join(workspace, '.git/refs'), { recursive: true });
const env = { PATH: process.env['PATH'] ?? '', HOME: root, TMPDIR: join(root, 'tmp') };
mkdirSync(env.TMPDIR);
const sandbox = createSandbox({
  home: join(root, 'home'),
  stateDir: join(root, 'home/sandbox'),
  env: process.env,
  warn: message => console.error(message),
});

const workspaceWrite: SandboxPolicy = {
  type: 'workspace-write',
  writable_roots: [],
  network_access: false,
  exclude_tmpdir_env_var: false,
  exclude_slash_tmp: false,
  allow_unix_sockets: false,
};

async function plain(argv: readonly string[]): Promise<void> {
  const child: ChildProcess = spawn(argv[0] ?? '', argv.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  await once(child, 'exit');
}

async function ours(policy: SandboxPolicy, argv: readonly string[] = ['/bin/true']): Promise<void> {
  const spec: CommandSpec = { argv, cwd: workspace, workspace, env, policy };
  const command = await sandbox.start(spec);
  if ('type' in command) throw new Error(command.message);
  command.onOutput(() => {});
  const result = await command.ended;
  if (result.type !== 'exited' || result.exit_code !== 0) throw new Error(JSON.stringify(result));
}

const cases: Record<string, () => Promise<void>> = {
  'bare spawn': () => plain(['/bin/true']),
  'bwrap, one mount': () => plain(['bwrap', '--bind', '/', '/', '/bin/true']),
  'ours, no sandbox': () => ours({ type: 'danger-full-access' }),
  'ours, read-only': () => ours({ type: 'read-only' }),
  'ours, workspace-write': () => ours(workspaceWrite),
};

/** All cases by turns, so that a busy moment of the machine hits each of them. */
async function measure(): Promise<Map<string, number>> {
  const times = new Map(Object.keys(cases).map(name => [name, [] as number[]]));
  for (let run = 0; run < RUNS + 2; run++) {
    for (const [name, body] of Object.entries(cases)) {
      const start = performance.now();
      await body();
      // The first rounds are for warming up.
      if (run >= 2) times.get(name)?.push(performance.now() - start);
      // Cleaning up after the last one is not part of the next.
      await new Promise(resolve => setTimeout(resolve, 15));
    }
  }
  return new Map([...times].map(([name, list]) => [name, list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0]));
}

const medians = await measure();
await sandbox.close();
rmSync(root, { recursive: true, force: true });

const of = (name: string) => medians.get(name) ?? 0;
const ratio = (of('ours, workspace-write') - of('bare spawn')) / (of('bwrap, one mount') - of('bare spawn'));
for (const [name, ms] of medians) console.log(`${name.padEnd(24)} ${ms.toFixed(1)}`);
console.log(`added by our sandbox / added by bwrap with one mount: ${ratio.toFixed(2)} (at most ${MAX_RATIO})`);
process.exitCode = ratio <= MAX_RATIO ? 0 : 1;
