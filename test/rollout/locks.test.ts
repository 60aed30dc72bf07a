import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireThreadLock, heldThreads, type LockResult, type ThreadLock } from '../../src/rollout/index.js';
import { linesOf, nextLine, noWarning, startProgram, THREAD, tempHome } from './support.js';

const OTHER = '01a227d0-0000-7000-8000-000000000002';

function take(home: string, waitMs = 0, threadId = THREAD, signal?: AbortSignal): Promise<LockResult> {
  return acquireThreadLock(home, threadId, { waitMs, warn: noWarning, ...(signal ? { signal } : {}) });
}

async function taken(result: Promise<LockResult>): Promise<ThreadLock> {
  const { type, ...rest } = await result;
  expect(type).toBe('locked');
  return (rest as { lock: ThreadLock }).lock;
}

const locksIn = (home: string) => readdirSync(join(home, 'thread-writer-locks'));

test('a thread is held by one taker at a time; other threads and other homes are free', async () => {
  const home = tempHome();
  const first = await taken(take(home));
  expect(await take(home)).toEqual({ type: 'busy', held_by: process.pid });
  expect(heldThreads(home)).toEqual(new Map([[THREAD, process.pid]]));
  (await taken(take(home, 0, OTHER))).release();
  (await taken(take(tempHome()))).release();
  first.release();
  first.release();
  expect(heldThreads(home)).toEqual(new Map());
  (await taken(take(home))).release();
  expect(locksIn(home)).toEqual([]);
});

test('a waiting taker gets the thread as soon as it is released', async () => {
  const home = tempHome();
  const first = await taken(take(home));
  const second = take(home, 20_000);
  first.release();
  (await taken(second)).release();
  expect(heldThreads(home)).toEqual(new Map());
});

test('a wait ends with its signal', async () => {
  const home = tempHome();
  const first = await taken(take(home));
  const control = new AbortController();
  const second = take(home, 60_000, THREAD, control.signal);
  control.abort();
  expect(await second).toEqual({ type: 'busy', held_by: process.pid });
  first.release();
});

test('where no lock files can be, a thread is used without, and that is told', async () => {
  const home = tempHome();
  writeFileSync(join(home, 'thread-writer-locks'), '');
  const warnings: string[] = [];
  const lock = await taken(acquireThreadLock(home, THREAD, { waitMs: 0, warn: text => warnings.push(text) }));
  lock.release();
  expect(warnings).toEqual([expect.stringContaining('It is used without a lock.')]);
  expect(heldThreads(home)).toEqual(new Map());
});

test('another process is named while it holds the thread, and a killed one holds nothing', async () => {
  const home = tempHome();
  const child = startProgram('hold-lock.program.ts', [home, THREAD]);
  expect(await nextLine(linesOf(child))).toBe('locked');
  expect(await take(home)).toEqual({ type: 'busy', held_by: child.pid });
  expect(heldThreads(home)).toEqual(new Map([[THREAD, child.pid]]));
  const gone = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
  (await taken(take(home))).release();
  expect(locksIn(home)).toEqual([]);
});

test('a stopped process still holds its thread', async () => {
  const home = tempHome();
  const child = startProgram('hold-lock.program.ts', [home, THREAD]);
  expect(await nextLine(linesOf(child))).toBe('locked');
  child.kill('SIGSTOP');
  expect(await take(home, 100)).toEqual({ type: 'busy', held_by: child.pid });
});

test('a process that only has the number of the dead holder holds nothing', async () => {
  const home = tempHome();
  const lock = await taken(take(home));
  const [name = ''] = locksIn(home);
  lock.release();
  const parts = name.split('.');
  parts[3] = String(Number(parts[3]) - 1);
  writeFileSync(join(home, 'thread-writer-locks', parts.join('.')), '');
  (await taken(take(home))).release();
  expect(locksIn(home)).toEqual([]);
});

test('a holder in another container is believed as long as it gives signs of life', async () => {
  const home = tempHome();
  const folder = join(home, 'thread-writer-locks');
  mkdirSync(folder);
  const name = join(folder, `${THREAD}.0000abcd.77.123.x.lock`);
  writeFileSync(name, '');
  expect(await take(home)).toEqual({ type: 'busy', held_by: 77 });
  utimesSync(name, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
  (await taken(take(home))).release();
});

test('files of other programs in the folder are left alone', async () => {
  const home = tempHome();
  const folder = join(home, 'thread-writer-locks');
  mkdirSync(folder);
  for (const name of ['.coordination.lock', `${THREAD}.lock`]) writeFileSync(join(folder, name), '');
  (await taken(take(home))).release();
  expect(locksIn(home).sort()).toEqual(['.coordination.lock', `${THREAD}.lock`]);
});

test('a name with path characters is no thread', async () => {
  await expect(take(tempHome(), 0, '../../etc')).rejects.toThrow('no thread id');
});

test('many takers in several processes never hold a thread together', async () => {
  const home = tempHome();
  const rounds = 40;
  const children = [1, 2, 3].map(() => startProgram('take-turns.program.ts', [home, THREAD, String(rounds)]));
  const said = await Promise.all(
    children.map(async child => {
      const lines: string[] = [];
      for await (const line of linesOf(child)) lines.push(line);
      return lines;
    }),
  );
  expect(said).toEqual(children.map(() => [`${rounds} turns, 0 clashes`]));
  expect(locksIn(home)).toEqual([]);
});
