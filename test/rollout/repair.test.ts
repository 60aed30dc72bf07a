import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HistoryItem } from '../../src/protocol/index.js';
import { LOST_OUTPUT, readRollout, repairHistory, UnreadableRolloutError } from '../../src/rollout/index.js';
import { allFaults } from './role-rules.js';
import { assistant, call, FIXTURES, output, THREAD, tempHome, user } from './support.js';

const reasoning: HistoryItem = { type: 'reasoning', summary: [] };
const patch = (id: string): HistoryItem => ({ type: 'custom_tool_call', call_id: id, name: 'apply_patch', input: 'x' });
const patched = (id: string): HistoryItem => ({ type: 'custom_tool_call_output', call_id: id, output: 'done' });
const lost = (id: string) => output(id, LOST_OUTPUT);

test.each<[string, HistoryItem[], HistoryItem[]]>([
  [
    'a whole history stays as it is',
    [user('q'), reasoning, assistant('a'), call('1'), patch('2'), output('1'), patched('2'), assistant('b')],
    [user('q'), reasoning, assistant('a'), call('1'), patch('2'), output('1'), patched('2'), assistant('b')],
  ],
  ['a call without an output gets one', [user('q'), call('1')], [user('q'), call('1'), lost('1')]],
  ['before the next prompt', [call('1'), user('next')], [call('1'), lost('1'), user('next')]],
  [
    'each of several',
    [call('1'), call('2'), output('2'), user('n')],
    [call('1'), call('2'), lost('1'), output('2'), user('n')],
  ],
  [
    'of the kind of the call',
    [patch('1')],
    [patch('1'), { type: 'custom_tool_call_output', call_id: '1', output: LOST_OUTPUT }],
  ],
  ['an output of the wrong kind is made right', [patch('1'), output('1', 'done')], [patch('1'), patched('1')]],
  ['an output without a call goes', [user('q'), output('9'), assistant('a')], [user('q'), assistant('a')]],
  [
    'a second output goes',
    [call('1'), output('1'), output('1', 'again'), user('q')],
    [call('1'), output('1'), user('q')],
  ],
  [
    'an output that came late moves up',
    [call('1'), user('steer'), output('1'), assistant('a')],
    [call('1'), output('1'), user('steer'), assistant('a')],
  ],
  [
    'an id may be used again in a later response',
    [call('1'), output('1', 'x'), user('q'), call('1'), output('1', 'y')],
    [call('1'), output('1', 'x'), user('q'), call('1'), output('1', 'y')],
  ],
  [
    'an output belongs to the nearest call with its id',
    [call('1'), user('q'), call('1'), output('1', 'y')],
    [call('1'), lost('1'), user('q'), call('1'), output('1', 'y')],
  ],
  [
    'reasoning that leads to nothing goes',
    [user('q'), reasoning, user('r'), reasoning, call('1'), output('1'), reasoning],
    [user('q'), user('r'), reasoning, call('1'), output('1')],
  ],
  ['an empty message goes', [user('q'), assistant(''), { type: 'message', role: 'user', content: [] }], [user('q')]],
  [
    'a local shell call is answered too',
    [{ type: 'local_shell_call', call_id: '1' }],
    [{ type: 'local_shell_call', call_id: '1' }, lost('1')],
  ],
  [
    'a search of the client is answered, one of the provider is left alone',
    [
      { type: 'tool_search_call', call_id: '1', execution: 'client' },
      { type: 'tool_search_call', call_id: null, execution: 'server' },
      { type: 'tool_search_output', call_id: null, execution: 'server' },
    ],
    [
      { type: 'tool_search_call', call_id: '1', execution: 'client' },
      { type: 'tool_search_call', call_id: null, execution: 'server' },
      { type: 'tool_search_output', call_id: null, execution: 'server' },
      { type: 'tool_search_output', call_id: '1', status: 'completed', execution: 'client', tools: [] },
    ],
  ],
])('repair: %s', (_name, broken, whole) => {
  expect(repairHistory(broken)).toEqual(whole);
});

const anyItem: fc.Arbitrary<HistoryItem> = fc.oneof(
  fc.constantFrom(user('q'), assistant('a'), assistant(''), reasoning, { type: 'web_search_call' } as const),
  fc.constantFrom('1', '2', '3').map(call),
  fc.constantFrom('1', '2', '3').map(id => output(id)),
  fc.constantFrom('1', '2', '4').map(patch),
  fc.constantFrom('1', '2', '4').map(patched),
);

test('any sequence of items is repaired to one that every wire API takes, and repairing again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 30 }), items => {
      const repaired = repairHistory(items);
      expect(allFaults(repaired)).toEqual([]);
      expect(repairHistory(repaired)).toEqual(repaired);
    }),
    { numRuns: 500 },
  );
});

test('no prompt, answer or call is lost by a repair', () => {
  const said = (items: readonly HistoryItem[]) =>
    items.filter(
      item =>
        !/output$|reasoning/.test(item.type) &&
        !(item.type === 'message' && item.content.every(part => 'text' in part && part.text === '')),
    );
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 30 }), items => {
      expect(said(repairHistory(items))).toEqual(said(items));
    }),
  );
});

/** What a busy thread may look like: turns with parallel calls, interruptions and compactions. */
const anyTurn: fc.Arbitrary<object[]> = fc
  .record({ calls: fc.integer({ min: 0, max: 3 }), thinks: fc.boolean(), compacts: fc.boolean(), ends: fc.boolean() })
  .map(({ calls, thinks, compacts, ends }) => {
    const ids = [...Array(calls).keys()].map(n => `c${n}`);
    return [
      line('event_msg', { type: 'task_started', turn_id: 't' }),
      ...(compacts ? [line('compacted', { message: 's', replacement_history: [user('kept'), user('summary')] })] : []),
      line('response_item', user('prompt')),
      ...(thinks ? [line('response_item', reasoning)] : []),
      ...ids.map(id => line('response_item', call(id))),
      ...ids.map(id => line('response_item', output(id))),
      line('response_item', assistant('answer')),
      ...(ends ? [line('event_msg', { type: 'task_complete', turn_id: 't' })] : []),
    ];
  });

function line(type: string, payload: object): object {
  return { timestamp: '2026-11-29T15:00:00.000Z', type, payload };
}

test('every prefix of a rollout, cut at any byte, resumes to a history that every wire API takes', async () => {
  const home = tempHome();
  const path = join(home, 'rollout.jsonl');
  const first = line('session_meta', { id: THREAD, cwd: '/w' });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyTurn, { maxLength: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (turns, share) => {
        const body = Buffer.from(
          turns
            .flat()
            .map(entry => `${JSON.stringify(entry)}\n`)
            .join(''),
        );
        const head = `${JSON.stringify(first)}\n`;
        writeFileSync(path, head + body.toString('utf8', 0, Math.floor(body.length * share)));
        const { history, meta } = await readRollout(home, path);
        expect(meta.id).toBe(THREAD);
        expect(allFaults(history)).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});

test('every prefix of the files of the reference that has the first line does so too', async () => {
  const home = tempHome();
  const folder = join(FIXTURES, 'sessions/2026/11/29');
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    const path = join(home, name);
    for (let end = bytes.indexOf('\n'); end < bytes.length; end += 211) {
      writeFileSync(path, bytes.subarray(0, end));
      expect(allFaults((await readRollout(FIXTURES, path)).history)).toEqual([]);
    }
  }
});

test('a file that was cut in its first line is refused', async () => {
  const home = tempHome();
  const path = join(home, 'rollout.jsonl');
  writeFileSync(path, '{"timestamp":"2026-11-29T15:00:00.000Z","type":"session_meta","payload":{"id":"01');
  await expect(readRollout(home, path)).rejects.toThrow(UnreadableRolloutError);
});
