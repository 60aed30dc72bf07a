import { expect, test } from 'vitest';
import type { HistoryItem } from '../../src/protocol/index.js';
import { findRollout, LOST_OUTPUT, readRollout, summarizeRollout, type ThreadRecord } from '../../src/rollout/index.js';
import { FIXTURES } from './support.js';

const SIMPLE = '01a227ca-2205-7851-b3c2-9b7759e82ee7';
const TOOLS = '01a227ca-24b8-7202-bceb-8d2d3450785b';
const COMPACTED = '01a227ca-2b1b-7d12-b47e-13c9bc23554e';
const FAILED = '01a227ca-306e-7320-afb0-731626f44fd6';
const KILLED = '01a227ca-331d-7d93-b0b1-7bfcc9b60e84';
const FORK = '01a227ca-48f6-7952-a135-972f479669c1';
const FROM_MCP = '01a227ca-4b48-75f3-be24-07c9d535d1a2';

async function read(id: string): Promise<ThreadRecord> {
  const file = await findRollout(FIXTURES, id);
  return readRollout(FIXTURES, file?.path ?? 'not found');
}

/** What was said, in short. */
function told(history: readonly HistoryItem[]): string[] {
  return history.map(item => {
    if (item.type === 'message')
      return `${item.role}: ${item.content.map(part => ('text' in part ? part.text : '')).join('|')}`;
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
      return `output: ${typeof item.output === 'string' ? item.output : 'parts'}`;
    if (item.type === 'function_call') return `call: ${item.arguments}`;
    if (item.type === 'custom_tool_call') return `call: ${item.input}`;
    return item.type;
  });
}

/** Without the two context messages at the beginning. */
const spoken = (record: ThreadRecord) =>
  told(record.history).filter(line => !/^(developer:|user: <environment)/.test(line));

test('a thread of the reference is read with its settings, totals and items', async () => {
  const record = await read(SIMPLE);
  expect(record.problems).toEqual([]);
  expect(record.meta).toEqual({
    id: SIMPLE,
    timestamp: '2026-11-29T14:51:28.134Z',
    cwd: '/w',
    originator: 'codex_exec',
    cli_version: '0.148.0',
    source: 'exec',
    model_provider: 'mock_provider',
    base_instructions: 'You are a coding agent.',
    git: null,
    interpreter: null,
  });
  expect(record.settings).toMatchObject({
    cwd: '/w',
    model: 'gpt-5.4',
    approval_policy: 'never',
    sandbox_policy: { type: 'danger-full-access' },
    summary: 'auto',
  });
  expect(record.usage?.total).toMatchObject({ input_tokens: 100, output_tokens: 10, total_tokens: 110 });
  expect(record.last_turn).toEqual({ turn_id: '01a227ca-2230-7003-aef1-4c4b4ee1efef', end: 'completed', error: null });
  expect(told(record.history).slice(2)).toEqual(['user: say hello', 'reasoning', 'assistant: hello']);
  expect(record.history.at(-1)).toEqual({
    type: 'message',
    id: 'msg_3v5zq9w',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'hello' }],
  });
  expect(record.append_point.next_ordinal).toBe(14);
});

test('tool calls of both kinds and the turn after a resume are in the history', async () => {
  const record = await read(TOOLS);
  expect(record.turns).toBe(2);
  expect(spoken(record).slice(0, 4)).toEqual([
    'user: use tools',
    'assistant: let me look',
    'call: {"cmd":"echo hi; echo err >&2; exit 3","yield_time_ms":10000}',
    expect.stringContaining('Process exited with code 3'),
  ]);
  expect(spoken(record).slice(4, 8)).toEqual([
    expect.stringContaining('*** Begin Patch'),
    expect.stringContaining('Success'),
    'assistant: done',
    'user: again',
  ]);
  expect(record.usage?.total.total_tokens).toBe(660);
});

test('a compaction replaces what came before it', async () => {
  const record = await read(COMPACTED);
  expect(spoken(record)).toEqual([
    'user: q1',
    'user: Summary of the work so far:\nSUMMARY',
    'user: q2',
    'assistant: a3',
  ]);
  expect(record.window).toBe(1);
});

test('a failed turn is known as failed, with its error', async () => {
  const record = await read(FAILED);
  expect(record.last_turn).toMatchObject({ end: 'failed', error: expect.stringContaining('bad thing') });
});

test('a turn whose process was killed is interrupted and its call is answered', async () => {
  const record = await read(KILLED);
  expect(record.last_turn?.end).toBe('interrupted');
  expect(spoken(record)).toEqual(['user: hang', expect.stringMatching(/^call:/), `output: ${LOST_OUTPUT}`]);
});

test('a fork begins with the part of the other thread it was made from', async () => {
  const record = await read(FORK);
  expect(record.meta).toMatchObject({ id: FORK, forked_from_id: '01a227ca-4787-71c2-bef6-44a8e41ac613' });
  expect(spoken(record)).toEqual(['user: q-one', 'assistant: ans-1', 'user: q-two', 'assistant: ans-2']);
  expect(record.append_point.next_ordinal).toBe(23);
});

test('a file without line numbers is read, and stays without them', async () => {
  const record = await read(FROM_MCP);
  expect(record.meta.source).toBe('mcp');
  expect(record.append_point.next_ordinal).toBeNull();
  expect(spoken(record).slice(2)).toEqual([
    'output: aborted by user after 4.9s',
    'user: <turn_aborted>\nThe turn was interrupted.\n</turn_aborted>',
    'user: again',
    'assistant: later',
  ]);
});

test.each([
  [SIMPLE, 'say hello', 'idle', 110],
  [TOOLS, 'use tools', 'idle', 660],
  [FAILED, 'fail', 'failed', 0],
  [KILLED, 'hang', 'interrupted', 0],
  [FROM_MCP, 'hang', 'idle', 220],
])('the summary of %s shows title %j, status %s and %i tokens', async (id, title, status, tokens) => {
  const file = await findRollout(FIXTURES, id);
  const summary = file && (await summarizeRollout(file));
  expect(summary).toMatchObject({ id, title, status, cwd: '/w', archived: false, model: 'gpt-5.4' });
  expect(summary?.usage.total_tokens).toBe(tokens);
});
