import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { showTiming } from '../../src/cli/threads-timing.js';

const ID = '01a227ca-0000-7000-8000-000000000001';
const START = Date.parse('2026-11-29T12:00:00Z');

let lines: object[];
beforeEach(() => {
  lines = [];
});

function add(type: string, payload: object, atMs = 0): void {
  lines.push({ timestamp: new Date(START + atMs).toISOString(), type, payload });
}

type Span = [kind: string, name: string, start: number, duration: number];

function measuredTurn(duration: number, spans: Span[]): void {
  add('event_msg', { type: 'task_started', turn_id: 't1' });
  const noted = spans.map(([kind, name, start_ms, duration_ms]) => ({ kind, name, start_ms, duration_ms }));
  add('interpreter', { kind: 'timing', turn_id: 't1', duration_ms: duration, spans: noted });
  add('event_msg', { type: 'task_complete', turn_id: 't1', duration_ms: duration + 5 }, duration);
}

async function show(json: boolean, more = '') {
  const home = mkdtempSync(join(tmpdir(), 'timing-test-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, 'sessions/2026/11/29');
  mkdirSync(folder, { recursive: true });
  const meta = { type: 'session_meta', timestamp: new Date(START).toISOString(), payload: { id: ID, cwd: '/w' } };
  const text = [meta, ...lines].map(line => JSON.stringify(line)).join('\n');
  writeFileSync(join(folder, `rollout-2026-11-29T12-00-00-${ID}.jsonl`), `${text}\n${more}`);
  let out = '';
  let err = '';
  const output = { out: (piece: string) => void (out += piece), err: (piece: string) => void (err += piece) };
  const status = await showTiming({ home, sqliteHome: home }, ID.slice(0, 8), { json, columns: 80 }, output);
  return { status, out, err };
}

async function sharesOf(duration: number, spans: Span[]) {
  measuredTurn(duration, spans);
  const [turn] = JSON.parse((await show(true)).out);
  return turn.shares_ms;
}

const NONE = { model: 0, tool: 0, approval: 0, hook: 0, servers: 0, own: 0 };

describe('the time of a turn', () => {
  it.each<[string, number, Span[], object]>([
    ['without anything is our own', 50, [], { own: 50 }],
    [
      'is divided between the model, tools and the rest',
      100,
      [
        ['model', 'm', 10, 40],
        ['tool', 'exec', 60, 30],
      ],
      { model: 40, tool: 30, own: 30 },
    ],
    [
      'belongs to the model while it still speaks',
      100,
      [
        ['model', 'm', 0, 50],
        ['tool', 'exec', 40, 60],
      ],
      { model: 50, tool: 50 },
    ],
    [
      'of calls side by side counts once',
      100,
      [
        ['tool', 'a', 0, 80],
        ['tool', 'b', 20, 80],
      ],
      { tool: 100 },
    ],
    [
      'that a call waits for a person is approval, unless another call works meanwhile',
      100,
      [
        ['tool', 'a', 0, 100],
        ['approval', 'approval.wait', 10, 80],
        ['tool', 'b', 20, 30],
      ],
      { tool: 50, approval: 50 },
    ],
    [
      'of hooks and of the start of servers has names of its own',
      100,
      [
        ['servers', 'wait', 0, 20],
        ['hook', 'Stop', 70, 30],
      ],
      { servers: 20, hook: 30, own: 50 },
    ],
    ['ends with the turn', 100, [['tool', 'a', 90, 500]], { tool: 10, own: 90 }],
  ])('%s', async (_, duration, spans, expected) => {
    expect(await sharesOf(duration, spans)).toEqual({ ...NONE, ...expected });
  });
});

it('is shown as a table with bars, and below it what happened when', async () => {
  measuredTurn(10_000, [
    ['model', 'gpt-5', 0, 5000],
    ['tool', 'exec_\u001b[2Jcommand', 5000, 2500],
    ['approval', 'approval.wait', 5000, 1000],
  ]);
  const { status, out } = await show(false);
  expect(status).toBe(0);
  expect(out).toBe(`turn 1  10.0 s  completed  2026-11-29 12:00:00 UTC
  model          5.00 s   50%  ████████████████████
  tools          1.50 s   15%  ██████
  approvals      1.00 s   10%  ████
  own work       2.50 s   25%  ██████████

  model       gpt-5          +0.00 s   5.00 s  ▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬
  tools       exec_command   +5.00 s   2.50 s                 ▬▬▬▬▬▬▬
  approvals   approval.wait  +5.00 s   1.00 s                 ▬▬
`);
});

it('of threads that other programs wrote is told as far as it is known', async () => {
  add('event_msg', { type: 'task_started', turn_id: 't1' });
  const times = { started_at_ms: START + 1000, completed_at_ms: START + 3000 };
  add('event_msg', { type: 'item_completed', turn_id: 't1', item: { type: 'CommandExecution', id: 'c' }, ...times });
  add('event_msg', { type: 'turn_aborted', turn_id: 't1', duration_ms: 4000 }, 4000);
  const { out } = await show(false);
  expect(out).toContain('turn 1  4.00 s  aborted');
  expect(out).toMatch(/tools +2\.00 s +50%/);
  expect(out).toMatch(/model, own +2\.00 s +50%/);
});

it('of a turn without an end goes up to the last line, and torn lines do no harm', async () => {
  add('event_msg', { type: 'task_started', turn_id: 't1' });
  add('response_item', { type: 'message' }, 1500);
  const [turn] = JSON.parse((await show(true, '{"timestamp":"2026-11-')).out);
  expect(turn).toMatchObject({ turn: 1, status: 'running', duration_ms: 1500, measured: false });
});

it('of a thread without turns is nothing', async () => {
  expect(await show(false)).toEqual({ status: 0, out: '', err: `Thread ${ID} has no turns yet.\n` });
});
