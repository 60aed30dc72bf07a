import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  archiveThreads,
  type DeleteOptions,
  deleteThreads,
  exportThread,
  listThreads,
  showThread,
} from '../../src/cli/threads-command.js';
import { parseAge, parseSize } from '../../src/cli/threads-to-delete.js';
import type { HistoryItem, ThreadSummary } from '../../src/protocol/index.js';
import { acquireThreadLock, createRollout, findRollout, openRollout, readRollout } from '../../src/rollout/index.js';

const DAY_MS = 86_400_000;
const threadId = (n: number) => `01a227d${n}-0000-7000-8000-00000000000${n}`;

/** A command line at a home of its own: what it printed and its exit status. */
class Terminal {
  readonly place: { home: string; sqliteHome: string };
  out = '';
  err = '';

  constructor() {
    const home = mkdtempSync(join(tmpdir(), 'threads-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    this.place = { home, sqliteHome: home };
  }

  readonly output = {
    out: (text: string) => {
      this.out += text;
    },
    err: (text: string) => {
      this.err += text;
    },
  };

  clear(): void {
    this.out = '';
    this.err = '';
  }

  delete(options: Partial<DeleteOptions>): Promise<number> {
    return deleteThreads(this.place, { ids: [], dryRun: false, json: false, ...options }, this.output);
  }

  async ids(archived: 'no' | 'only' | 'both' = 'both'): Promise<string[]> {
    this.clear();
    await listThreads(this.place, { archived, json: true }, this.output);
    return (JSON.parse(this.out) as ThreadSummary[]).map(thread => thread.id);
  }
}

let terminal: Terminal;

beforeEach(() => {
  terminal = new Terminal();
});

const say = (role: 'user' | 'assistant', text: string): HistoryItem => ({
  type: 'message',
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
});

/** A thread with one command, last used `days` ago. Returns its file. */
function write(n: number, days = 0, prompt = `question ${n}`): string {
  const { home } = terminal.place;
  const startedAt = new Date(Date.now() - days * DAY_MS);
  const writer = createRollout({ home, threadId: threadId(n), startedAt, warn: terminal.output.err });
  const item = (payload: HistoryItem) => writer.append({ type: 'response_item', payload });
  const origin = { originator: 'o', cli_version: '1', source: 'exec', model_provider: 'p', git: { branch: 'main' } };
  const meta = { id: threadId(n), timestamp: startedAt.toISOString(), cwd: '/w', base_instructions: 'secret prompt' };
  writer.append({ type: 'session_meta', payload: { ...meta, ...origin, interpreter: null } });
  const turn = { turn_id: 't', cwd: `/w/${n}`, model: 'mock-model', effort: null, summary: null };
  const policies = { approval_policy: 'never', sandbox_policy: { type: 'read-only' } } as const;
  writer.append({ type: 'turn_context', payload: { ...turn, ...policies } });
  item(say('user', prompt));
  item({ type: 'function_call', call_id: 'c', name: 'exec_command', arguments: '{"cmd":"ls"}' });
  item({ type: 'function_call_output', call_id: 'c', output: 'file-a\nfile-b' });
  item(say('assistant', `answer ${n}`));
  writer.close();
  if (days > 0) age(writer.path, startedAt);
  return writer.path;
}

/** Makes a file look as if it was written then. */
function age(path: string, at: Date): void {
  const text = readFileSync(path, 'utf8').replaceAll(/"timestamp":"[^"]*"/g, `"timestamp":"${at.toISOString()}"`);
  writeFileSync(path, text);
  utimesSync(path, at, at);
}

test('list prints a table, newest first', async () => {
  write(1, 3);
  write(2, 0.1);
  expect(await listThreads(terminal.place, { json: false }, terminal.output)).toBe(0);
  expect(terminal.out).toBe(
    [
      'ID                                    UPDATED     STATUS  TOKENS  MODEL       DIRECTORY  TITLE',
      `${threadId(2)}  2 h ago     idle    0       mock-model  /w/2       question 2`,
      `${threadId(1)}  3 days ago  idle    0       mock-model  /w/1       question 1`,
      '',
    ].join('\n'),
  );
});

test('list cuts titles to the terminal and lets no control characters through', async () => {
  write(1, 0, `\u001b[31mred ${'long '.repeat(50)}`);
  await listThreads(terminal.place, { json: false, columns: 130 }, terminal.output);
  expect(Math.max(...terminal.out.split('\n').map(line => line.length))).toBeLessThanOrEqual(130);
  expect(terminal.out).toMatch(/ red long long/);
  expect(terminal.out).not.toContain('\u001b');
});

test('list says so when there are no threads', async () => {
  expect(await listThreads(terminal.place, { json: false }, terminal.output)).toBe(0);
  expect([terminal.out, terminal.err]).toEqual(['', 'No threads.\n']);
});

test('show prints the facts and the conversation, also for the beginning of an id', async () => {
  write(1);
  expect(await showThread(terminal.place, threadId(1).slice(0, 9), { json: false }, terminal.output)).toBe(0);
  expect(terminal.out).toContain(`id           ${threadId(1)}\n`);
  expect(terminal.out).toContain('directory    /w/1\n');
  expect(terminal.out).toContain('branch       main\n');
  expect(terminal.out).toMatch(/\n> question 1\n {2}exec_command \{"cmd":"ls"\}\nanswer 1\n$/);
});

test('show --json has the summary and the history', async () => {
  write(1);
  await showThread(terminal.place, threadId(1), { json: true }, terminal.output);
  expect(JSON.parse(terminal.out)).toMatchObject({
    summary: { id: threadId(1), title: 'question 1' },
    settings: { model: 'mock-model' },
    history: [{ role: 'user' }, { type: 'function_call' }, { output: 'file-a\nfile-b' }, { role: 'assistant' }],
    problems: [],
  });
});

test.each([
  ['an unknown id', '01a227d9-0000-7000-8000-000000000009', /No thread with the id/],
  ['a beginning of several', '01a2', /the beginning of 2 threads/],
  ['no id at all', '../../etc', /no thread id/],
])('%s is refused', async (_what, id, message) => {
  write(1);
  write(2);
  expect(await showThread(terminal.place, id, { json: false }, terminal.output)).toBe(1);
  expect(terminal.err).toMatch(message);
  expect(await terminal.delete({ ids: [id] })).toBe(1);
  expect(await terminal.ids()).toHaveLength(2);
});

test('delete takes the file, the empty folders and the row', async () => {
  write(1);
  write(2, 1);
  expect(await terminal.delete({ ids: [threadId(2)] })).toBe(0);
  expect(terminal.out).toMatch(new RegExp(`^${threadId(2)} deleted \\(.* kB\\)\n1 thread deleted`));
  expect(await terminal.ids()).toEqual([threadId(1)]);
  const months = readdirSync(join(terminal.place.home, 'sessions'), { recursive: true });
  expect(months.filter(name => String(name).endsWith('.jsonl'))).toHaveLength(1);
});

test('delete by age and by total size', async () => {
  const size = statSync(write(1, 40)).size;
  for (const [n, days] of [
    [2, 20],
    [3, 10],
    [4, 1],
  ] as const)
    write(n, days);
  await terminal.delete({ olderThanMs: 30 * DAY_MS });
  expect(await terminal.ids()).toEqual([4, 3, 2].map(threadId));
  await terminal.delete({ maxTotalBytes: size * 2 + 100, dryRun: true });
  expect(terminal.out).toContain(`${threadId(2)} would be deleted`);
  expect(await terminal.ids()).toEqual([4, 3, 2].map(threadId));
  await terminal.delete({ maxTotalBytes: size * 2 + 100 });
  expect(await terminal.ids()).toEqual([4, 3].map(threadId));
});

test('delete --json says what went', async () => {
  const { size } = statSync(write(1));
  await terminal.delete({ ids: [threadId(1)], json: true });
  expect(JSON.parse(terminal.out)).toEqual({ dry_run: false, deleted: [{ id: threadId(1), bytes: size }] });
});

test('delete without any word about what is wrong usage', async () => {
  write(1);
  expect(await terminal.delete({})).toBe(2);
  expect(terminal.err).toContain('--older-than');
  expect(await terminal.ids()).toHaveLength(1);
});

test('a thread in use is neither deleted nor archived', async () => {
  write(1, 5);
  const taken = await acquireThreadLock(terminal.place.home, threadId(1), { waitMs: 0, warn: terminal.output.err });
  expect(await terminal.delete({ ids: [threadId(1)] })).toBe(1);
  expect(terminal.err).toContain(`in use by process ${process.pid}`);
  expect(await terminal.delete({ olderThanMs: DAY_MS })).toBe(0);
  expect(await archiveThreads(terminal.place, { ids: [threadId(1)], restore: false }, terminal.output)).toBe(1);
  expect(await terminal.ids('no')).toEqual([threadId(1)]);
  if (taken.type === 'locked') taken.lock.release();
});

test('a thread that a fork builds on stays as long as the fork does', async () => {
  const base = write(1, 5);
  const fork = write(2, 1);
  const history = `"history_base":{"thread_id":"${threadId(1)}","end_ordinal_exclusive":4},"originator"`;
  writeFileSync(fork, readFileSync(fork, 'utf8').replace('"originator"', history));
  expect(await terminal.delete({ ids: [threadId(1)] })).toBe(1);
  expect(terminal.err).toContain(`its fork ${threadId(2)} builds on it`);
  expect(existsSync(base)).toBe(true);
  expect(await terminal.delete({ ids: [threadId(1), threadId(2)] })).toBe(0);
  expect(await terminal.ids()).toEqual([]);
});

test('a damaged thread can be deleted by its id', async () => {
  writeFileSync(write(1), '');
  expect(await terminal.delete({ ids: [threadId(1)] })).toBe(0);
  expect(await findRollout(terminal.place.home, threadId(1))).toBeNull();
});

test('an archived thread leaves the list, can still be found, and comes back to its place', async () => {
  const path = write(1);
  const { home } = terminal.place;
  expect(await archiveThreads(terminal.place, { ids: [threadId(1)], restore: false }, terminal.output)).toBe(0);
  expect(await terminal.ids('no')).toEqual([]);
  expect(await terminal.ids('only')).toEqual([threadId(1)]);
  expect((await findRollout(home, threadId(1)))?.archived).toBe(true);
  expect(await archiveThreads(terminal.place, { ids: [threadId(1)], restore: true }, terminal.output)).toBe(0);
  expect((await findRollout(home, threadId(1)))?.path).toBe(path);
});

test('export writes Markdown, JSON or the rollout itself', async () => {
  const path = write(1, 0, 'with ``` in it');
  const id = threadId(1);
  await exportThread(terminal.place, { id, format: 'markdown' }, terminal.output);
  expect(terminal.out).toContain('## User\n\nwith ``` in it\n');
  expect(terminal.out).toContain(
    '### exec_command\n\n```\n{"cmd":"ls"}\n```\n\n```\nfile-a\nfile-b\n```\n\n## Agent\n\nanswer 1\n',
  );
  terminal.clear();
  await exportThread(terminal.place, { id, format: 'json' }, terminal.output);
  const { meta, transcript } = JSON.parse(terminal.out) as { meta: object; transcript: object[] };
  expect(meta).toMatchObject({ id });
  expect(transcript).toHaveLength(4);
  const file = join(terminal.place.home, 'out.jsonl');
  await exportThread(terminal.place, { id, format: 'jsonl', file }, terminal.output);
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(path, 'utf8'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const missing = join(terminal.place.home, 'no/such/folder');
  expect(await exportThread(terminal.place, { id, format: 'jsonl', file: missing }, terminal.output)).toBe(1);
  expect(terminal.err).toContain('ENOENT');
});

test('an export has what a compaction took from the history', async () => {
  const path = write(1);
  const { append_point: at } = await readRollout(terminal.place.home, path);
  const writer = openRollout(at, { warn: terminal.output.err });
  writer.append({ type: 'compacted', payload: { message: 'm', replacement_history: [say('user', 'summary')] } });
  writer.append({ type: 'response_item', payload: say('user', 'and then') });
  writer.close();
  await exportThread(terminal.place, { id: threadId(1), format: 'markdown' }, terminal.output);
  expect(terminal.out).toMatch(/question 1[^]*answer 1[^]*replaced by a summary[^]*and then/);
});

test.each([
  ['30d', 30 * DAY_MS],
  ['12h', DAY_MS / 2],
  ['90m', 5_400_000],
  ['2w', 14 * DAY_MS],
  ['1.5D', 1.5 * DAY_MS],
  ['30', null],
  ['d', null],
  ['-3d', null],
])('age %j is %j ms', (text, ms) => {
  expect(parseAge(text)).toBe(ms);
});

test.each([
  ['4096', 4096],
  ['10kb', 10_240],
  ['1.5 MB', 1_572_864],
  ['2GB', 2_147_483_648],
  ['many', null],
  ['-1', null],
])('size %j is %j bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});
