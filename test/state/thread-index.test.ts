import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ThreadSummary } from '../../src/protocol/index.js';
import { acquireThreadLock } from '../../src/rollout/index.js';
import { INDEX_FILE } from '../../src/state/index.js';
import { beginTurn, openIndex, tempHome, threadId, titles, writeThread } from './support.js';

test('threads are listed newest first, with what their files say', async () => {
  const home = tempHome();
  for (const n of [2, 1, 3]) writeThread(home, n);
  const { index, warnings } = openIndex(home);
  const threads = await index.list();
  expect(titles(threads)).toEqual(['thread 3', 'thread 2', 'thread 1']);
  expect(threads[0]).toEqual<ThreadSummary>({
    id: threadId(3),
    rollout_path: expect.stringContaining(threadId(3)),
    cwd: '/w',
    title: 'thread 3',
    model: 'm',
    model_provider: 'provider-1',
    approval_policy: 'never',
    sandbox_policy: 'read-only',
    source: 'exec',
    status: 'idle',
    runner_pid: null,
    usage: {
      input_tokens: 0,
      cached_input_tokens: 0,
      cache_write_input_tokens: 0,
      output_tokens: 0,
      reasoning_output_tokens: 0,
      total_tokens: 0,
    },
    created_at_ms: Date.UTC(2026, 10, 29, 12, 3),
    updated_at_ms: Date.UTC(2026, 10, 29, 12, 3),
    archived: false,
    git: { branch: 'b' },
    forked_from_id: null,
    history_base_id: null,
  });
  expect(warnings).toEqual([]);
});

test('a file is read once, and again only after it changed', async () => {
  const home = tempHome();
  const path = writeThread(home, 1);
  writeThread(home, 2);
  const first = openIndex(home);
  const before = await first.index.list();
  await first.index.close();
  const second = openIndex(home);
  expect(await second.index.list()).toEqual(before);
  expect(second.rollouts.reads).toBe(0);
  beginTurn(path);
  expect((await second.index.list())[0]).toMatchObject({ id: threadId(1), status: 'interrupted' });
  expect(second.rollouts.reads).toBe(1);
});

test('lists are filtered by directory, provider, age and number', async () => {
  const home = tempHome();
  for (const n of [1, 2, 3, 4]) writeThread(home, n, n < 3 ? '/one' : '/two');
  const { index } = openIndex(home);
  expect(titles(await index.list({ cwd: '/one' }))).toEqual(['thread 2', 'thread 1']);
  expect(titles(await index.list({ model_provider: 'provider-0' }))).toEqual(['thread 4', 'thread 2']);
  expect(titles(await index.list({ since_ms: Date.UTC(2026, 10, 29, 12, 3) }))).toEqual(['thread 4', 'thread 3']);
  expect(titles(await index.list({ limit: 1 }))).toEqual(['thread 4']);
});

test('archived and deleted threads leave the list', async () => {
  const home = tempHome();
  const [one = '', two = ''] = [1, 2, 3].map(n => writeThread(home, n));
  const { index } = openIndex(home);
  await index.list();
  mkdirSync(join(home, 'archived_sessions'));
  renameSync(one, join(home, 'archived_sessions', one.slice(dirname(one).length + 1)));
  rmSync(two);
  expect(titles(await index.list())).toEqual(['thread 3']);
  expect(titles(await index.list({ archived: 'only' }))).toEqual(['thread 1']);
  expect(titles(await index.list({ archived: 'both' }))).toEqual(['thread 3', 'thread 1']);
});

test('a thread with an open turn is running while a process holds it, and interrupted afterwards', async () => {
  const home = tempHome();
  beginTurn(writeThread(home, 1));
  const { index } = openIndex(home);
  const taken = await acquireThreadLock(home, threadId(1), { waitMs: 0, warn: () => {} });
  if (taken.type !== 'locked') throw new Error('the thread is busy');
  expect(await index.list()).toMatchObject([{ status: 'running', runner_pid: process.pid }]);
  taken.lock.release();
  expect(await index.list()).toMatchObject([{ status: 'interrupted', runner_pid: null }]);
});

/** A home that another process has indexed; the engine keeps a file open until that process ends. */
let indexed: string;

beforeAll(async () => {
  indexed = mkdtempSync(join(tmpdir(), 'state-'));
  await runWriter(indexed, 0);
});

afterAll(() => rmSync(indexed, { recursive: true, force: true }));

test.each<[string, (file: string) => void]>([
  ['garbage', file => writeFileSync(file, 'no database at all '.repeat(500))],
  ['the first half', file => truncateSync(file, 2_000)],
  [
    'pages of zeros',
    file => writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 4_096), Buffer.alloc(8_192)])),
  ],
  ['nothing', file => truncateSync(file, 0)],
  ['no file', file => rmSync(file)],
])('a database that holds %s is made again from the files', async (_what, damage) => {
  const home = tempHome();
  cpSync(indexed, home, { recursive: true });
  damage(join(home, INDEX_FILE));
  const second = openIndex(home);
  expect(await second.index.list()).toHaveLength(10);
  await second.index.close();
  const third = openIndex(home);
  expect(await third.index.list()).toHaveLength(10);
  expect(third.rollouts.reads).toBe(0);
  expect([...second.warnings, ...third.warnings]).toEqual([]);
});

test('without any database threads are listed from their files, with one warning', async () => {
  const home = tempHome();
  writeThread(home, 1);
  mkdirSync(join(home, INDEX_FILE));
  const { index, warnings } = openIndex(home);
  expect(titles(await index.list())).toEqual(['thread 1']);
  expect(titles(await index.list())).toEqual(['thread 1']);
  expect(warnings).toEqual([expect.stringContaining(INDEX_FILE)]);
});

test('a damaged rollout does not hide the others', async () => {
  const home = tempHome();
  writeThread(home, 1);
  writeFileSync(writeThread(home, 2), '\0\0\0\n');
  const { index, warnings } = openIndex(home);
  expect(titles(await index.list())).toEqual(['thread 1']);
  expect(warnings).toEqual([]);
});

test('nothing is opened or made before it is needed, and the file is private', async () => {
  const home = tempHome();
  const { index } = openIndex(home);
  await index.close();
  expect(existsSync(join(home, INDEX_FILE))).toBe(false);
  await index.list();
  expect(statSync(join(home, INDEX_FILE)).mode & 0o777).toBe(0o600);
});

test('many processes use one index at the same time', async () => {
  const home = tempHome();
  const said = await Promise.all([0, 1, 2, 3, 4].map(number => runWriter(home, number)));
  for (const line of said) expect(line).toMatch(/^\d+\n$/);
  expect(Math.max(...said.map(Number))).toBe(50);
  const { index, rollouts, warnings } = openIndex(home);
  expect(await index.list()).toHaveLength(50);
  expect(rollouts.reads).toBe(0);
  expect(warnings).toEqual([]);
});

/** A process that writes ten threads and lists them; what it said. */
function runWriter(home: string, number: number): Promise<string> {
  const program = fileURLToPath(new URL('many-writers.program.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', program, home, String(number)]);
    let said = '';
    child.stdout.on('data', chunk => (said += String(chunk)));
    child.stderr.on('data', chunk => (said += String(chunk)));
    child.once('error', reject);
    child.once('exit', () => resolve(said));
  });
}
