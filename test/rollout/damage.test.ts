import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as zlib from 'node:zlib';
import { expect, test } from 'vitest';
import {
  createRollout,
  findRollout,
  openRollout,
  readRollout,
  rolloutPath,
  summarizeRollout,
  UnreadableRolloutError,
} from '../../src/rollout/index.js';
import { appendTurn, FIXTURES, META, noWarning, THREAD, tempHome, turnHistory, user } from './support.js';

function write(home: string, lines: readonly (object | string)[]): string {
  const path = rolloutPath(home, THREAD, new Date());
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

/** A home with one thread of two turns, and its lines. */
function twoTurns(): { home: string; path: string; lines: string[] } {
  const home = tempHome();
  const writer = createRollout({ home, threadId: THREAD, startedAt: new Date(), warn: noWarning });
  writer.append({ type: 'session_meta', payload: META });
  appendTurn(writer, 1);
  appendTurn(writer, 2);
  writer.close();
  return { home, path: writer.path, lines: readFileSync(writer.path, 'utf8').trimEnd().split('\n') };
}

test('damaged lines in the middle cost nothing but themselves', async () => {
  const { home, path, lines } = twoTurns();
  const bad = [
    '{"timestamp":"x","type":"response_item","payload":{{{',
    '\0\0',
    '"text"',
    '{}',
    '',
    '[1]',
    '{"type":"x"}',
  ];
  lines.splice(9, 0, ...bad);
  writeFileSync(path, `${lines.join('\n')}\n`);
  const record = await readRollout(home, path);
  expect(record.history).toEqual([...turnHistory(1), ...turnHistory(2)]);
  expect(record.problems.map(problem => problem.line)).toEqual([10, 11, 12, 13, 15, 16]);
  expect(record.append_point.next_ordinal).toBe(17);
});

test('a whole line that was put behind a torn one is kept', async () => {
  const { home, path, lines } = twoTurns();
  // The torn line is one that would be passed over unread when whole.
  const torn =
    '{"timestamp":"2026-01-01T00:00:00Z","ordinal":9,"type":"event_msg","payload":{"type":"item_completed","it';
  lines[11] = `${torn}${lines[11]}`;
  writeFileSync(path, `${lines.join('\n')}\n`);
  expect((await readRollout(home, path)).history).toEqual([...turnHistory(1), ...turnHistory(2)]);
});

test('bytes that are no UTF-8 do not hide a line', async () => {
  const { home, path, lines } = twoTurns();
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  bytes[bytes.indexOf('prompt 2')] = 0xff;
  writeFileSync(path, bytes);
  expect((await readRollout(home, path)).history[4]).toEqual(user('\ufffdrompt 2'));
});

test.each([
  ['an empty file', [], /is empty/],
  ['a file of nothing but damage', ['\0\0\0', '{{{'], /no usable session_meta/],
])('%s is refused with a reason that names it', async (_name, lines, reason) => {
  const home = tempHome();
  const path = write(home, lines);
  if (lines.length === 0) writeFileSync(path, '');
  const reading = readRollout(home, path);
  await expect(reading).rejects.toThrow(UnreadableRolloutError);
  await expect(reading).rejects.toThrow(reason);
  await expect(reading).rejects.toThrow(path);
  expect(await summarizeRollout({ path, thread_id: THREAD, archived: false })).toBeNull();
});

test('a file that is gone is refused by name', async () => {
  await expect(readRollout(tempHome(), '/nowhere/rollout.jsonl')).rejects.toThrow(/nowhere\/rollout\.jsonl.*ENOENT/);
});

test('a thread whose first line is damaged goes on with what its turns say', async () => {
  const { home, path, lines } = twoTurns();
  lines[0] = lines[0]?.slice(0, 100) ?? '';
  writeFileSync(path, `${lines.join('\n')}\n`);
  const record = await readRollout(home, path);
  expect(record.meta).toMatchObject({ id: THREAD, cwd: '/w/sub', source: 'unknown', interpreter: null });
  expect(record.history).toEqual([...turnHistory(1), ...turnHistory(2)]);
});

test('files of older programs are read', async () => {
  const home = tempHome();
  const at = { timestamp: '2025-09-01T10:00:00.000Z' };
  const path = write(home, [
    {
      ...at,
      type: 'session_meta',
      payload: { id: THREAD, timestamp: at.timestamp, cwd: '/w', instructions: 'Old.', source: { subagent: 'review' } },
    },
    { ...at, type: 'response_item', payload: { type: 'message', role: 'user', content: 'plain text' } },
    { ...at, type: 'response_item', payload: { type: 'ghost_snapshot', ghost_commit: {} } },
    {
      ...at,
      type: 'response_item',
      payload: { type: 'local_shell_call', call_id: 'l', status: 'completed', action: {} },
    },
    {
      ...at,
      type: 'response_item',
      payload: { type: 'function_call_output', call_id: 'l', output: { content: 'ok', success: true } },
    },
    { ...at, type: 'something_new', payload: { a: 1 } },
    { ...at, type: 'event_msg', payload: { type: 'agent_reasoning', text: 'x' } },
    {
      ...at,
      type: 'turn_context',
      payload: { cwd: '/w', model: 'old', approval_policy: 'on-failure', sandbox_policy: { type: 'external' } },
    },
    { ...at, type: 'compacted', payload: { message: 'What was done.' } },
  ]);
  const record = await readRollout(home, path);
  expect(record.problems).toEqual([]);
  expect(record.meta).toMatchObject({ source: 'subagent', base_instructions: 'Old.' });
  expect(record.settings).toMatchObject({ approval_policy: 'on-request', sandbox_policy: { type: 'read-only' } });
  expect(record.history).toEqual([user('plain text'), user('What was done.')]);
  expect(record.append_point.next_ordinal).toBeNull();
});

test('a fork whose other file is gone is refused, since half of it is missing', async () => {
  const home = tempHome();
  const base = '01a227ca-4787-71c2-bef6-44a8e41ac613';
  const payload = { id: THREAD, cwd: '/w', history_base: { thread_id: base, end_ordinal_exclusive: 3 } };
  const path = write(home, [{ timestamp: 'x', type: 'session_meta', payload }]);
  await expect(readRollout(home, path)).rejects.toThrow(base);
});

test('a thread that claims to continue itself is refused', async () => {
  const home = tempHome();
  const payload = { id: THREAD, cwd: '/w', history_base: { thread_id: THREAD, end_ordinal_exclusive: 3 } };
  const path = write(home, [{ timestamp: 'x', type: 'session_meta', payload }]);
  await expect(readRollout(home, path)).rejects.toThrow(UnreadableRolloutError);
});

const PACKED = '01a227ca-0000-7000-8000-000000000001';
const canUnpack = 'createZstdDecompress' in zlib;

test.skipIf(canUnpack)('a packed file is refused with what to do, where Node cannot unpack it', async () => {
  const packed = await findRollout(FIXTURES, PACKED);
  expect(packed?.archived).toBe(true);
  await expect(readRollout(FIXTURES, packed?.path ?? '')).rejects.toThrow(/zstd -d/);
});

test.runIf(canUnpack)('a packed file is read, and unpacked before it goes on', async () => {
  const packed = await findRollout(FIXTURES, PACKED);
  const record = await readRollout(FIXTURES, packed?.path ?? '');
  expect(record.history.at(-1)).toMatchObject({ role: 'assistant' });
  const home = tempHome();
  const copy = `${rolloutPath(home, THREAD, new Date())}.zst`;
  mkdirSync(dirname(copy), { recursive: true });
  writeFileSync(copy, readFileSync(packed?.path ?? ''));
  const writer = openRollout((await readRollout(home, copy)).append_point, { warn: noWarning });
  expect(writer.check()).toBe('current');
  writer.append({ type: 'response_item', payload: user('more') });
  writer.close();
  expect(readdirSync(dirname(copy))).toEqual([basename(writer.path)]);
  expect((await readRollout(home, writer.path)).history.at(-1)).toEqual(user('more'));
});
