import { getEventListeners } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/protocol/index.js';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { processesOf, uniqueSeconds } from '../support/processes.js';
import { describeIf } from '../support/requires.js';
import { type ModelAnswerScript, outputOf, textsOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';

/** Runs a turn and interrupts it once `when` is true. */
async function interrupted(world: AgentWorld, when: (events: Event[]) => boolean, c: string[] = []) {
  const stop = new AbortController();
  const events: Event[] = [];
  const thread = await world.thread({ c });
  const running = runTurn(thread, 'go', { signal: stop.signal, onEvent: event => events.push(event) });
  await until(() => when(events));
  stop.abort();
  return { thread, turn: await running };
}

const exec = (shell: string, more = {}): ModelAnswerScript => [
  { shell, id: 'c', args: { yield_time_ms: 30_000, ...more } },
];

const has = (type: Event['type'], item?: string) => (events: Event[]) =>
  events.some(event => event.type === type && (item === undefined || ('item' in event && event.item.type === item)));

/** What is in the file of a workspace; "" when it is not there. */
function textIn(world: AgentWorld, file: string): string {
  return existsSync(path.join(world.cwd, file)) ? readFileSync(path.join(world.cwd, file), 'utf8') : '';
}

/** Commands that do not end by themselves; each is there once `count` sleeps run. */
const stubborn: [string, (seconds: string) => string, number][] = [
  ['a simple command', s => `exec sleep ${s}`, 1],
  ['one that ignores TERM', s => `trap '' TERM INT HUP; sleep ${s} & wait; sleep ${s} & wait`, 1],
  ['a pipeline with children in the background', s => `(sleep ${s} & sleep ${s}; wait) | cat`, 2],
  ['children in sessions of their own', s => `setsid sleep ${s} & setsid sh -c 'sleep ${s}; true' & sleep ${s}`, 3],
  ['daemons that left their parents', s => `(setsid nohup sleep ${s} >/dev/null 2>&1 &) ; sleep ${s}`, 2],
  [
    'a child that was stopped',
    s => `sleep ${s} & while ! grep -q sleep /proc/$!/cmdline; do :; done; kill -STOP $!; wait`,
    1,
  ],
];

function killsEverything(mode: string): void {
  it.each(stubborn)('ends %s', async (_name, script, count) => {
    const seconds = uniqueSeconds();
    const world = new AgentWorld([exec(script(seconds))]);
    const started = () => processesOf(`sleep ${seconds}`).length >= count;
    const { turn } = await interrupted(world, started, [`sandbox_mode=${mode}`]);
    expect(processesOf(`sleep ${seconds}`)).toEqual([]);
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'signal' });
  });

  it('ends a command with a terminal', async () => {
    const seconds = uniqueSeconds();
    const world = new AgentWorld([exec(`trap '' HUP INT; sleep ${seconds}; true`, { tty: true })]);
    const started = () => processesOf(`sleep ${seconds}`).length >= 1;
    await interrupted(world, started, [`sandbox_mode=${mode}`]);
    expect(processesOf(`sleep ${seconds}`)).toEqual([]);
  });
}

describe.skipIf(process.platform === 'darwin')('an interrupt without a sandbox', () => {
  killsEverything('danger-full-access');
});

describeIf('bubblewrap', 'an interrupt in a sandbox', () => {
  killsEverything('workspace-write');
});

describe('an interrupted turn', () => {
  it('tells the model what was interrupted, in the next turn too', async () => {
    const world = new AgentWorld([exec('echo before; echo > started; sleep 60')]);
    const { thread, turn } = await interrupted(world, () => textIn(world, 'started') !== '');
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'signal', content: '', error: null });
    expect(turn.events.at(-1)).toMatchObject({ type: 'turn.aborted', reason: 'interrupted' });
    // The answer that made the call was paid for.
    expect(turn.usage.input_tokens).toBe(10);
    expect(turn.items).toContainEqual(
      expect.objectContaining({ type: 'command_execution', id: 'c', status: 'failed', aggregated_output: 'before\n' }),
    );
    await runTurn(thread, 'go on');
    const request = world.provider.requests[1];
    expect(outputOf(request, 'c')).toMatch(/aborted by user\n[\s\S]*before\n$/);
    expect(request?.input.slice(-4).map(item => item.type)).toEqual([
      'function_call',
      'function_call_output',
      'message',
      'message',
    ]);
    expect(textsOf(request, 'user').slice(-2)).toEqual([expect.stringContaining('<turn_aborted>'), 'go on']);
  });

  it('keeps what the model had said, and gives it back', async () => {
    const world = new AgentWorld([[{ say: 'so far' }, { stall: true }]]);
    const { thread, turn } = await interrupted(world, has('text.delta'));
    expect(turn).toMatchObject({ status: 'aborted', content: 'so far' });
    await runTurn(thread, 'go on');
    expect(textsOf(world.provider.requests[1], 'assistant')).toEqual(['so far']);
  });

  it('does not carry out the calls that were waiting', async () => {
    const world = new AgentWorld([
      [
        { shell: 'touch started; sleep 60', id: 'runs', args: { yield_time_ms: 30_000 } },
        { patch: '*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch', id: 'waits' },
        { shell: 'touch ran', id: 'behind' },
      ],
    ]);
    const { thread } = await interrupted(world, () => existsSync(path.join(world.cwd, 'started')));
    await runTurn(thread, 'go on');
    expect(outputOf(world.provider.requests[1], 'waits')).toBe('aborted by user');
    expect(outputOf(world.provider.requests[1], 'behind')).toBe('aborted by user');
    expect(existsSync(path.join(world.cwd, 'patched'))).toBe(false);
    expect(existsSync(path.join(world.cwd, 'ran'))).toBe(false);
  });

  it('ends the commands it left running in the background', async () => {
    const seconds = uniqueSeconds();
    const world = new AgentWorld([exec(`sleep ${seconds}`, { yield_time_ms: 250 }), [{ stall: true }]]);
    await interrupted(world, () => world.provider.requests.length === 2);
    expect(processesOf(`sleep ${seconds}`)).toEqual([]);
  });

  it('leaves alone what an earlier turn left running, also while it waits for that', async () => {
    const seconds = uniqueSeconds();
    const world = new AgentWorld([exec(`echo up; exec sleep ${seconds}`, { yield_time_ms: 250 })]);
    const thread = await world.thread();
    await runTurn(thread, 'start it');
    await until(() => processesOf(`sleep ${seconds}`).length === 1);
    world.provider.add(request => {
      const id = Number(/session ID (\d+)/.exec(outputOf(request, 'c') ?? '')?.[1]);
      return [{ call: 'write_stdin', args: { session_id: id, yield_time_ms: 60_000 }, id: 'poll' }];
    });
    const stop = new AbortController();
    const running = runTurn(thread, 'wait for it', {
      signal: stop.signal,
      onEvent: event => {
        if (event.type === 'response.completed') setImmediate(() => stop.abort());
      },
    });
    expect(await running).toMatchObject({ status: 'aborted' });
    expect(processesOf(`sleep ${seconds}`)).toHaveLength(1);
    await runTurn(thread, 'and?');
    const [second, third] = world.provider.requests.slice(-2);
    expect(outputOf(second, 'poll')).toBeUndefined();
    expect(outputOf(third, 'poll')).toMatch(/aborted by user\nProcess running with session ID \d+/);
  });

  it('while a person is asked tells the one who asks, and nothing is done', async () => {
    const world = new AgentWorld([[{ shell: 'rm -rf x', id: 'c' }]]);
    const stop = new AbortController();
    const thread = await world.thread({ c: ['approval_policy=untrusted'] });
    const turn = await runTurn(thread, 'go', {
      signal: stop.signal,
      approver: (_request, signal) =>
        new Promise(resolve => {
          signal.addEventListener('abort', () => resolve({ type: 'approved' }));
          stop.abort();
        }),
    });
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'signal' });
    expect(turn.items.some(item => item.type === 'command_execution')).toBe(false);
  });

  it('that had not begun, because another one ran, leaves no trace', async () => {
    const world = new AgentWorld([[{ stall: true }]]);
    const thread = await world.thread();
    const [first, second] = [new AbortController(), new AbortController()];
    const running = runTurn(thread, 'first', { signal: first.signal });
    const waiting = runTurn(thread, 'second', { signal: second.signal });
    await until(() => world.provider.requests.length === 1);
    second.abort();
    first.abort();
    await running;
    expect(await waiting).toMatchObject({ status: 'aborted', aborted_by: 'signal', events: [] });
    await runTurn(thread, 'third');
    expect(textsOf(world.provider.requests[1], 'user')).not.toContain('second');
  });

  it('is not confused with one that a person ended', async () => {
    const world = new AgentWorld([
      [
        { shell: 'touch asked', id: 'asks' },
        { shell: 'touch other; sleep 60', id: 'other', args: { yield_time_ms: 30_000 } },
      ],
    ]);
    world.write('home/rules/default.rules', 'prefix_rule(pattern=["touch", "asked"], decision="prompt")\n');
    const thread = await world.thread({ c: ['approval_policy=on-request'] });
    const turn = await runTurn(thread, 'go', {
      approver: async () => {
        await until(() => existsSync(path.join(world.cwd, 'other')));
        return { type: 'abort' };
      },
    });
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'decision' });
    expect(turn.events).toContainEqual(expect.objectContaining({ type: 'approval.decided', decision: 'abort' }));
    await runTurn(thread, 'go on');
    expect(outputOf(world.provider.requests[1], 'asks')).toContain('ended by the person');
    expect(outputOf(world.provider.requests[1], 'other')).toContain('aborted by user');
    expect(existsSync(path.join(world.cwd, 'asked'))).toBe(false);
  });

  it('before the first request has its prompt in the history', async () => {
    const world = new AgentWorld();
    const stop = new AbortController();
    const thread = await world.thread();
    const turn = await runTurn(thread, 'the prompt', {
      signal: stop.signal,
      onEvent: event => {
        if (event.type === 'turn.started') stop.abort();
      },
    });
    expect(turn.status).toBe('aborted');
    await runTurn(thread, 'next');
    expect(textsOf(world.provider.requests.at(-1), 'user').slice(-3)).toEqual([
      'the prompt',
      expect.stringContaining('<turn_aborted>'),
      'next',
    ]);
  });
});

describe('a signal that outlives many turns', () => {
  it('has no listeners left after them', async () => {
    const answers = Array.from({ length: 20 }, (): ModelAnswerScript[] => [[{ shell: 'true' }, { shell: 'true' }], []]);
    const world = new AgentWorld(answers.flat());
    const { signal } = new AbortController();
    const thread = await world.thread();
    for (let turn = 0; turn < 20; turn++) await runTurn(thread, 'go', { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('makes Node warn of nothing, however many calls run at once', async () => {
    const warnings: string[] = [];
    const note = (warning: Error) => warnings.push(warning.message);
    process.on('warning', note);
    const world = new AgentWorld([Array.from({ length: 30 }, () => ({ shell: 'sleep 0.2' }))]);
    await runTurn(await world.thread(), 'go');
    await new Promise(resolve => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
