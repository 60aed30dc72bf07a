import { appendFileSync, existsSync, readdirSync, readFileSync, readlinkSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AppendPoint,
  createRollout,
  findRollout,
  openRollout,
  type RolloutWriter,
  readRollout,
} from '../../src/rollout/index.js';
import { appendTurn, assistant, META, noWarning, SETTINGS, THREAD, tempHome, turnHistory, user } from './support.js';

const STARTED = new Date(2026, 10, 29, 15, 4, 5);

function newThread(home: string): RolloutWriter {
  const writer = createRollout({ home, threadId: THREAD, startedAt: STARTED, warn: noWarning });
  writer.append({ type: 'session_meta', payload: META });
  return writer;
}

function goOn(at: AppendPoint): RolloutWriter {
  return openRollout(at, { warn: noWarning });
}

function linesIn(path: string): { ordinal?: number; type: string; payload: Record<string, unknown> }[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { type: string; payload: Record<string, unknown> });
}

test('nothing is written before the first line; then the file has its place and is private', () => {
  const home = tempHome();
  const writer = createRollout({ home, threadId: THREAD, startedAt: STARTED, warn: noWarning });
  expect(readdirSync(home)).toEqual([]);
  expect(writer.check()).toBe('new');
  writer.append({ type: 'session_meta', payload: META });
  expect(writer.flush()).toBe(true);
  expect(writer.path).toBe(join(home, 'sessions/2026/11/29', `rollout-2026-11-29T15-04-05-${THREAD}.jsonl`));
  expect(statSync(writer.path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(writer.path)).mode & 0o777).toBe(0o700);
  expect(statSync(join(home, 'sessions')).mode & 0o777).toBe(0o700);
});

test('a thread is read back as it was written', async () => {
  const home = tempHome();
  const writer = newThread(home);
  appendTurn(writer, 1);
  writer.append({ type: 'interpreter', payload: { kind: 'grant', keys: ['a'] } });
  writer.append({ type: 'world_state', payload: { full: true, state: { cwd: '/w' } } });
  writer.append({ type: 'world_state', payload: { full: false, state: { cwd: '/v' } } });
  writer.close();
  const record = await readRollout(home, writer.path);
  expect(record).toMatchObject({
    meta: META,
    history: turnHistory(1),
    settings: SETTINGS,
    world_state: [{ cwd: '/w' }, { cwd: '/v' }],
    usage: { total: { total_tokens: 100 }, model_context_window: 1000 },
    notes: [{ kind: 'grant', keys: ['a'] }],
    turns: 1,
    window: 0,
    last_turn: { turn_id: 'turn-1', end: 'completed', error: null },
    problems: [],
  });
});

test('a permission profile and a granular approval policy come back exactly', async () => {
  const home = tempHome();
  const writer = newThread(home);
  const settings = {
    ...SETTINGS,
    approval_policy: {
      granular: {
        sandbox_approval: false,
        rules: true,
        mcp_elicitations: false,
        request_permissions: true,
        skill_approval: false,
      },
    },
    sandbox_policy: {
      type: 'profile',
      name: 'tight',
      filesystem: [
        { access: 'write', target: { path: '/w' } },
        { access: 'deny', target: { glob: '**/*.key', base: '/w' } },
      ],
      network: { type: 'domains', allow: ['example.org'], deny: [] },
      allow_unix_sockets: false,
    },
    summary: 'detailed',
  } as const;
  writer.append({ type: 'turn_context', payload: settings });
  writer.flush();
  expect((await readRollout(home, writer.path)).settings).toEqual(settings);
  // Other programs see the strictest policy they know.
  expect(linesIn(writer.path)[1]?.payload['sandbox_policy']).toEqual({ type: 'read-only' });
});

test('lines are numbered through, also after the thread was opened again', async () => {
  const home = tempHome();
  const first = newThread(home);
  appendTurn(first, 1);
  first.close();
  const second = goOn((await readRollout(home, first.path)).append_point);
  appendTurn(second, 2);
  second.close();
  expect(linesIn(first.path).map(line => line.ordinal)).toEqual([...Array(17).keys()]);
  expect((await readRollout(home, first.path)).history).toEqual([...turnHistory(1), ...turnHistory(2)]);
});

test('a closed record goes on with the next line', async () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.close();
  appendTurn(writer, 1);
  writer.close();
  expect((await readRollout(home, writer.path)).history).toEqual(turnHistory(1));
});

test.runIf(process.platform === 'linux')('a thread between its turns holds no descriptor', async () => {
  const isOpen = () =>
    readdirSync('/proc/self/fd').some(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === writer.path;
      } catch {
        // The descriptor of the listing itself is gone again.
        return false;
      }
    });
  const writer = newThread(tempHome());
  writer.flush();
  expect(isOpen()).toBe(true);
  appendTurn(writer, 1);
  writer.flush();
  await expect.poll(isOpen).toBe(false);
  expect(writer.check()).toBe('current');
});

test('lines reach the file without a flush, in order', async () => {
  const home = tempHome();
  const writer = newThread(home);
  for (let n = 0; n < 100; n++) writer.append({ type: 'response_item', payload: assistant(`text ${n}`) });
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)));
  expect(linesIn(writer.path)).toHaveLength(101);
});

test('a torn last line is closed before the next one', async () => {
  const home = tempHome();
  const first = newThread(home);
  appendTurn(first, 1);
  first.close();
  appendFileSync(first.path, '{"timestamp":"2026-01-01T00:00:00Z","type":"respon');
  const record = await readRollout(home, first.path);
  expect(record.problems).toEqual([{ path: first.path, line: 10, reason: 'not JSON' }]);
  const second = goOn(record.append_point);
  second.append({ type: 'response_item', payload: user('after') });
  second.close();
  expect((await readRollout(home, first.path)).history).toEqual([...turnHistory(1), user('after')]);
});

test('a record tells whether its file is still as it left it', async () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.close();
  expect(writer.check()).toBe('current');
  const other = goOn((await readRollout(home, writer.path)).append_point);
  appendTurn(other, 1);
  other.close();
  expect(writer.check()).toBe('changed');
  expect(other.check()).toBe('current');
  renameSync(writer.path, `${writer.path}.away`);
  expect(other.check()).toBe('missing');
  expect(existsSync(writer.path)).toBe(false);
});

test('half a surrogate pair does not make a line that strict readers refuse', async () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.append({ type: 'response_item', payload: user('cut \ud83d and "\\ud83d" whole \ud83d\ude00') });
  writer.close();
  expect(readFileSync(writer.path, 'utf8')).not.toMatch(/[^\\]\\ud83d/);
  expect((await readRollout(home, writer.path)).history).toEqual([user('cut \ufffd and "\\ud83d" whole \ud83d\ude00')]);
});

test('a rollback takes the last turns out of the history, with the context before them', async () => {
  const home = tempHome();
  const writer = newThread(home);
  const context = user('<environment_context>x</environment_context>');
  writer.append({ type: 'response_item', payload: context });
  appendTurn(writer, 1);
  writer.append({ type: 'response_item', payload: context });
  appendTurn(writer, 2);
  appendTurn(writer, 3);
  writer.append({ type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 2 } });
  appendTurn(writer, 4);
  writer.close();
  expect((await readRollout(home, writer.path)).history).toEqual([context, ...turnHistory(1), ...turnHistory(4)]);
});

test('the thread is found by its id and by nothing else', async () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.close();
  expect(await findRollout(home, THREAD)).toEqual({ path: writer.path, thread_id: THREAD, archived: false });
  expect(await findRollout(home, '01a227d0-0000-7000-8000-000000000002')).toBeNull();
  expect(await findRollout(home, `../sessions/${THREAD}`)).toBeNull();
  expect(await findRollout(home, THREAD.slice(0, -1))).toBeNull();
  expect(await findRollout(join(home, 'nowhere'), THREAD)).toBeNull();
});
