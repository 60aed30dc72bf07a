/** What ends a run of `exec` from outside, and that nothing of it is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ExecWorld, PROGRAM } from '../support/exec-world.js';
import { isAlive } from '../support/processes.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';

/** A command that leaves its number and that of a child in files, and goes on. */
const SLEEPERS = 'sleep 600 & echo $! > child.pid; echo $$ > command.pid; wait';

const create = () =>
  ExecWorld.create([answer({ shell: SLEEPERS, args: { yield_time_ms: 30_000 } }), answer({ say: 'x' })]);

/** The two processes of the command, as soon as they run. */
async function sleepers(world: ExecWorld): Promise<number[]> {
  const files = ['child.pid', 'command.pid'].map(name => `${world.cwd}/${name}`);
  return until(() => {
    const pids = files.map(file => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0));
    return pids.every(pid => pid > 0) && pids;
  });
}

const gone = (pids: readonly number[]) => until(() => pids.every(pid => !isAlive(pid)));

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends commands, tells it, and ends with status 1',
  async signal => {
    const world = await create();
    let child: ChildProcess | undefined;
    const done = world.json(['hi'], { onStart: started => (child = started) });
    const pids = await sleepers(world);
    child?.kill(signal);
    const ran = await done;
    expect({ code: ran.code, signal: ran.signal }).toEqual({ code: 1, signal: null });
    expect(ran.events.at(-1)).toEqual({ type: 'turn.failed', error: { message: 'interrupted' } });
    expect(ran.items.at(-1)).toMatchObject({ type: 'command_execution', status: 'failed' });
    await gone(pids);
    const resumed = await world.json(['resume', ran.threadId, 'go on']);
    expect(JSON.stringify(world.server.requests.at(-1)?.body['input'])).toContain('was interrupted');
    expect(resumed.code).toBe(0);
  },
);

test('a signal while the model is silent closes its connection', async () => {
  const world = await ExecWorld.create(['silence']);
  let child: ChildProcess | undefined;
  const done = world.exec(['hi'], { onStart: started => (child = started) });
  const request = await until(() => world.server.requests[0]);
  child?.kill('SIGINT');
  expect(await done).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ERROR: interrupted') });
  expect(await request.closed).toBe('cut');
});

test('a signal ends a run whose output nobody takes', async () => {
  const world = await ExecWorld.create([
    answer(...Array.from({ length: 40 }, () => ({ say: 'x'.repeat(100_000) })), { shell: SLEEPERS }),
  ]);
  const child = spawn(process.execPath, [PROGRAM, 'exec', '--json', '--skip-git-repo-check', 'hi'], {
    cwd: world.cwd,
    env: world.env(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.pause();
  const pids = await sleepers(world);
  const exited = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await exited).toBe(1);
  child.stdout.destroy();
  await gone(pids);
});

test('a reader that goes away ends the run', async () => {
  const world = await create();
  let child: ChildProcess | undefined;
  const done = world.json(['hi'], { onStart: started => (child = started) });
  const pids = await sleepers(world);
  child?.stdout?.destroy();
  expect((await done).code).toBe(1);
  await gone(pids);
});

test.skipIf(!existsSync('/dev/full'))('an answer that can not be written is told, and the run has failed', async () => {
  const world = await ExecWorld.create([answer({ say: 'hello' })]);
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [PROGRAM, 'exec', '--skip-git-repo-check', 'hi'], {
    cwd: world.cwd,
    env: world.env(),
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  const told = child.stderr ? text(child.stderr) : '';
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
  expect(await told).toMatch(/Error: the output could not be written: ENOSPC/);
});

/** The arguments of a run. */
const RUN = [process.execPath, PROGRAM, 'exec', '--json', '--skip-git-repo-check', 'hi'];

test('a caller that is killed takes the run with it', async () => {
  const world = await create();
  const [file, ...args] = RUN;
  const code = `require('node:child_process').spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, { stdio: 'pipe' })`;
  const caller = spawn(process.execPath, ['-e', code], { cwd: world.cwd, env: world.env(), stdio: 'ignore' });
  const pids = await sleepers(world);
  const run = runOf(pids[1] ?? 0);
  caller.kill('SIGKILL');
  await gone([...pids, run]);
  expect([...pids, run].some(isAlive)).toBe(false);
});

test('a run goes on when its caller is killed and somebody still reads it, and ends with the reader', async () => {
  const world = await create();
  const shell = spawn('sh', ['-c', '"$@" | sleep 600', 'sh', ...RUN], { cwd: world.cwd, env: world.env() });
  const pids = await sleepers(world);
  const run = runOf(pids[1] ?? 0);
  const reader = childrenOf(shell.pid ?? 0).find(pid => pid !== run) ?? 0;
  shell.kill('SIGKILL');
  await until(() => statOf(run)[1] !== String(shell.pid));
  expect([run, ...pids].every(isAlive)).toBe(true);
  process.kill(reader, 'SIGKILL');
  await gone([...pids, run]);
});

/** The fields of a process behind its name: state, parent, ... */
function statOf(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The run that a command belongs to: there may be helpers between them. */
function runOf(pid: number): number {
  for (let at = pid; at > 1; at = Number(statOf(at)[1])) {
    if (readFileSync(`/proc/${at}/cmdline`, 'utf8').includes(PROGRAM)) return at;
  }
  throw new Error('The command belongs to no run.');
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && isChild(name, pid))
    .map(Number);
}

function isChild(name: string, parent: number): boolean {
  try {
    return statOf(name)[1] === String(parent);
  } catch {
    // It ended meanwhile.
    return false;
  }
}
