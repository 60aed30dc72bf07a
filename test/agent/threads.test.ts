import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type AgentDeps, type RunOptions, type Thread, ThreadUnavailableError } from '../../src/agent/index.js';
import type { ModelRequest, Provider, ProviderSettings } from '../../src/protocol/index.js';
import { findRollout, moveRollout } from '../../src/rollout/index.js';
import { allFaults } from '../rollout/role-rules.js';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { DOT } from '../support/dot-image.js';
import { processesOf, uniqueSeconds } from '../support/processes.js';
import { type ModelAnswerScript, outputOf, textsOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';

const inputOf = (world: AgentWorld, request: number) => world.provider.requests.at(request)?.input ?? [];

const prompts = (request: ModelRequest | undefined) =>
  textsOf(request, 'user').filter(text => !text.startsWith('<environment_context>'));

async function inThread(world: AgentWorld, ...texts: string[]): Promise<Thread> {
  const thread = await world.thread();
  for (const text of texts) await runTurn(thread, text);
  return thread;
}

describe('turns of one thread', () => {
  it('wait for each other in the order of the calls, each with its own events and result', async () => {
    const world = new AgentWorld([1, 2, 3].map(n => [{ say: `answer ${n}` }]));
    const thread = await world.thread();
    const order: string[] = [];
    const turns = await Promise.all(
      ['p1', 'p2', 'p3'].map(prompt =>
        runTurn(thread, prompt, {
          onEvent: event => {
            if (event.type === 'turn.started' || event.type === 'turn.completed') order.push(`${event.type} ${prompt}`);
          },
        }),
      ),
    );
    expect(turns.map(turn => turn.content)).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(order).toEqual(['p1', 'p2', 'p3'].flatMap(prompt => [`turn.started ${prompt}`, `turn.completed ${prompt}`]));
    expect(turns.map(turn => turn.events.some(event => event.type === 'thread.started'))).toEqual([true, false, false]);
    for (const turn of turns) {
      const ids = new Set(turn.events.flatMap(event => ('turn_id' in event ? [event.turn_id] : [])));
      expect([...ids]).toEqual([turn.turn_id]);
    }
    expect(prompts(world.provider.requests[2])).toEqual(['p1', 'p2', 'p3']);
  });

  it('go on after one that failed', async () => {
    const world = new AgentWorld([[{ fail: { message: 'no' } }], [{ say: 'yes' }]]);
    const thread = await world.thread();
    const [first, second] = await Promise.all([runTurn(thread, 'p1'), runTurn(thread, 'p2')]);
    expect([first.status, second.status]).toEqual(['failed', 'completed']);
  });
});

describe('different threads', () => {
  it('run at the same time, in one process and in one workspace', async () => {
    const started: string[] = [];
    const script: ModelAnswerScript = request => {
      started.push(request.thread_id);
      return [{ until: until(() => started.length === 16) }, { say: prompts(request).at(-1) ?? '' }];
    };
    const world = new AgentWorld(Array.from({ length: 16 }, () => script));
    const manager = world.manager();
    const turns = await Promise.all(
      Array.from({ length: 16 }, async (_, n) => runTurn(await manager.startThread(world.config(), 'mcp'), `p${n}`)),
    );
    expect(turns.map(turn => turn.content)).toEqual(Array.from({ length: 16 }, (_, n) => `p${n}`));
    expect(new Set(started).size).toBe(16);
  });
});

describe('a thread in two processes', () => {
  it('waits for the turn of the other process, and goes on with what that did', async () => {
    const world = new AgentWorld([[{ say: 'a1' }]]);
    const thread = await inThread(world, 'p1');
    let release = () => {};
    const gate = new Promise<void>(resolve => {
      release = resolve;
    });
    world.provider.add([{ until: gate }, { say: 'a2' }], [{ say: 'a3' }]);
    const running = runTurn(thread, 'p2');
    await until(() => world.provider.requests.length === 2);
    const other = await world.manager().getThread(thread.id);
    const waiting = runTurn(other, 'p3');
    release();
    await running;
    expect(await waiting).toMatchObject({ status: 'completed', content: 'a3' });
    expect(prompts(world.provider.requests[2])).toEqual(['p1', 'p2', 'p3']);
    expect(textsOf(world.provider.requests[2], 'assistant')).toEqual(['a1', 'a2']);
  });

  it('is not waited for for ever: the caller learns which process has it, and nothing happened', async () => {
    const world = new AgentWorld([[{ say: 'a1' }], [{ stall: true }]]);
    const thread = await inThread(world, 'p1');
    const stop = new AbortController();
    const running = runTurn(thread, 'p2', { signal: stop.signal });
    await until(() => world.provider.requests.length === 2);
    const turn = await runTurn(await world.manager().getThread(thread.id), 'p3');
    expect(turn).toMatchObject({ status: 'failed', error: { kind: 'other' }, events: [] });
    expect(turn.error?.message).toContain(`Thread ${thread.id} is in use by process ${process.pid}`);
    expect(world.provider.requests).toHaveLength(2);
    stop.abort();
    await running;
  });

  it('stops waiting at once when the caller gives up', async () => {
    const world = new AgentWorld([[{ say: 'a1' }], [{ stall: true }]]);
    const thread = await inThread(world, 'p1');
    const [stop, giveUp] = [new AbortController(), new AbortController()];
    const running = runTurn(thread, 'p2', { signal: stop.signal });
    await until(() => world.provider.requests.length === 2);
    const waiting = runTurn(await world.manager().getThread(thread.id), 'p3', { signal: giveUp.signal });
    setImmediate(() => giveUp.abort());
    expect(await waiting).toMatchObject({ status: 'aborted', aborted_by: 'signal', events: [] });
    stop.abort();
    await running;
  });

  it('knows what the other process did since, also what was granted and what the model was told', async () => {
    const world = new AgentWorld([[{ say: 'a1' }], [{ say: 'a2' }], [{ say: 'a3' }]]);
    world.write('work/AGENTS.md', 'first');
    const thread = await inThread(world, 'p1');
    world.write('work/AGENTS.md', 'second');
    await runTurn(await world.manager().getThread(thread.id), 'p2');
    const turn = await runTurn(thread, 'p3');
    const request = world.provider.requests[2];
    expect(textsOf(request, 'assistant')).toEqual(['a1', 'a2']);
    const told = textsOf(request, 'user').filter(text => text.includes('AGENTS.md instructions'));
    expect(told.map(text => text.includes('second'))).toEqual([false, true]);
    expect(turn.usage.total_tokens).toBe(45);
  });
});

describe('the file of a loaded thread', () => {
  it('may be archived: the thread goes on in it', async () => {
    const world = new AgentWorld();
    const thread = await inThread(world, 'p1');
    const file = await findRollout(world.home, thread.id);
    if (!file) throw new Error('no rollout');
    await moveRollout(world.home, thread.id, 'archive');
    expect(await runTurn(thread, 'p2')).toMatchObject({ status: 'completed' });
    const archived = await findRollout(world.home, thread.id);
    expect(archived?.archived).toBe(true);
    expect(readFileSync(archived?.path ?? '', 'utf8')).toContain('p2');
    expect(existsSync(file.path)).toBe(false);
  });

  it('may be deleted: the next turn says so and asks no model, and no file appears', async () => {
    const world = new AgentWorld();
    const thread = await inThread(world, 'p1');
    rmSync(thread.settings.rollout_path ?? '');
    const turn = await runTurn(thread, 'p2');
    expect(turn).toMatchObject({ status: 'failed', events: [] });
    expect(turn.error?.message).toContain(`No thread with the id ${thread.id} was found`);
    expect(world.provider.requests).toHaveLength(1);
    expect(await findRollout(world.home, thread.id)).toBeNull();
  });
});

describe('a thread that is not kept', () => {
  it('goes on in memory and leaves no file', async () => {
    const world = new AgentWorld();
    const manager = world.manager();
    const thread = await manager.startThread({ ...world.config(), persist: false }, 'exec');
    await runTurn(thread, 'p1');
    await runTurn(thread, 'p2');
    expect(prompts(world.provider.requests[1])).toEqual(['p1', 'p2']);
    expect(thread.settings.rollout_path).toBeNull();
    expect(existsSync(path.join(world.home, 'sessions'))).toBe(false);
    expect(await manager.getThread(thread.id)).toBe(thread);
    await expect(world.manager().getThread(thread.id)).rejects.toThrow(ThreadUnavailableError);
  });
});

describe('a thread id that cannot be continued', () => {
  it.each([
    ['is no id', 'nonsense', 'not_found', /it is no thread id/],
    ['tries to leave the folder', '../../etc/passwd', 'not_found', /it is no thread id/],
    ['is unknown', '01a227ca-ffff-7000-8000-000000000000', 'not_found', /No thread with the id/],
  ])('because it %s', async (_name, id, reason, message) => {
    const error = await new AgentWorld()
      .manager()
      .getThread(id)
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(ThreadUnavailableError);
    expect(error).toMatchObject({ reason, message: expect.stringMatching(message) });
  });

  it('because its file is empty; it can be once the file is mended', async () => {
    const world = new AgentWorld();
    const thread = await inThread(world, 'p1');
    const file = thread.settings.rollout_path ?? '';
    const text = readFileSync(file);
    writeFileSync(file, '');
    const manager = world.manager();
    await expect(manager.getThread(thread.id)).rejects.toMatchObject({ reason: 'unreadable' });
    writeFileSync(file, text);
    expect(await runTurn(await manager.getThread(thread.id), 'p2')).toMatchObject({ status: 'completed' });
  });
});

describe('a thread that was resumed', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] } as const;

  it('shows the model exactly what the process before would have shown', async () => {
    const world = new AgentWorld([
      [
        { item: { ...reasoning, summary: [...reasoning.summary], content: null, encrypted_content: 'e' } },
        { say: 'looking', phase: 'commentary' },
        { shell: `head -c 60000 /dev/urandom | base64; printf '\\377\\000é'`, id: 'big' },
        { patch: '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch', id: 'patch' },
        { call: 'view_image', args: { path: 'dot.png' }, id: 'image' },
        { call: 'nope', args: '{broken', id: 'broken' },
      ],
      [{ say: 'done', phase: 'final_answer' }],
      [{ fail: { message: 'no' } }],
    ]);
    world.write('work/dot.png', DOT);
    const thread = await world.thread({ c: ['developer_instructions="Be brief."'] });
    await runTurn(thread, 'zażółć 🧑‍🚀 \u2028 "q" \\ tab\t cr\r\nlf \u0001');
    await runTurn(thread, 'this one fails');
    const resumed = await world.manager().getThread(thread.id);
    await runTurn(resumed, 'next');
    const [live, read] = [inputOf(world, -2), inputOf(world, -1)];
    expect(read.slice(0, live.length)).toEqual(live);
    expect(resumed.settings).toEqual(thread.settings);
  });

  it('of which the process died tells the model that its turn was interrupted, and what became of its calls', async () => {
    const world = new AgentWorld([[{ shell: 'echo one', id: 'c1' }], [{ shell: 'echo two', id: 'c2' }]]);
    const thread = await inThread(world, 'p1');
    const file = thread.settings.rollout_path ?? '';
    const lines = readFileSync(file, 'utf8').split('\n');
    const last = lines.findIndex(line => line.includes('"function_call"') && line.includes('echo two'));
    writeFileSync(file, `${lines.slice(0, last + 1).join('\n')}\n`);
    await runTurn(await world.manager().getThread(thread.id), 'p2');
    const request = world.provider.requests.at(-1);
    expect(outputOf(request, 'c1')).toContain('one');
    expect(outputOf(request, 'c2')).toMatch(/^aborted: the agent stopped before this call returned/);
    expect(prompts(request)).toEqual(['p1', expect.stringContaining('<turn_aborted>'), 'p2']);
    expect(allFaults(request?.input ?? [])).toEqual([]);
  });
});

describe('threads of codex 0.148', () => {
  const fixtures = path.join(import.meta.dirname, '../fixtures/rollouts');
  const packed = '01a227ca-0000-7000-8000-000000000001';
  const ids = [
    '01a227ca-2205-7851-b3c2-9b7759e82ee7',
    '01a227ca-24b8-7202-bceb-8d2d3450785b',
    '01a227ca-2b1b-7d12-b47e-13c9bc23554e',
    '01a227ca-306e-7320-afb0-731626f44fd6',
    '01a227ca-331d-7d93-b0b1-7bfcc9b60e84',
    '01a227ca-4787-71c2-bef6-44a8e41ac613',
    '01a227ca-48f6-7952-a135-972f479669c1',
    '01a227ca-4b48-75f3-be24-07c9d535d1a2',
    ...('zstdDecompressSync' in zlib ? [packed] : []),
  ];

  it.each(ids)('go on: %s', async id => {
    const world = new AgentWorld([[{ shell: 'echo here', id: 'new' }], [{ say: 'answer' }]]);
    cpSync(fixtures, world.home, { recursive: true });
    const manager = world.manager();
    for (const [turn, prompt] of ['go on', 'and again'].entries()) {
      const thread = await manager.getThread(id, world.config());
      expect(await runTurn(thread, prompt)).toMatchObject({ status: 'completed', thread_id: id });
      expect(allFaults(world.provider.requests.at(-1)?.input ?? [])).toEqual([]);
      expect(prompts(world.provider.requests.at(-1)).length).toBeGreaterThan(turn + 1);
    }
    await runTurn(await world.manager().getThread(id, world.config()), 'in a third process');
    expect(outputOf(world.provider.requests.at(-1), 'new')).toContain('here');
    expect(prompts(world.provider.requests.at(-1)).slice(-3)).toEqual(['go on', 'and again', 'in a third process']);
  });
});

describe('closing', () => {
  it('interrupts what runs and what waits, and ends its commands', async () => {
    const seconds = uniqueSeconds();
    const world = new AgentWorld([
      [{ shell: `trap '' TERM; sleep ${seconds}; true`, args: { yield_time_ms: 30_000 } }],
    ]);
    const manager = world.manager();
    const thread = await manager.startThread(world.config(), 'mcp');
    const running = runTurn(thread, 'p1');
    const waiting = runTurn(thread, 'p2');
    await until(() => processesOf(`sleep ${seconds}`).length > 0);
    await manager.close();
    expect(processesOf(`sleep ${seconds}`)).toEqual([]);
    expect(await running).toMatchObject({ status: 'aborted', aborted_by: 'signal' });
    expect(await waiting).toMatchObject({ status: 'aborted', events: [] });
    expect(readFileSync(thread.settings.rollout_path ?? '', 'utf8')).toContain('turn_aborted');
    expect(await runTurn(thread, 'p3')).toMatchObject({ status: 'aborted', events: [] });
  });

  it('ends commands in the background', async () => {
    const seconds = uniqueSeconds();
    const world = new AgentWorld([[{ shell: `sleep ${seconds}`, args: { yield_time_ms: 250 } }]]);
    const manager = world.manager();
    await runTurn(await manager.startThread(world.config(), 'mcp'), 'p1');
    await until(() => processesOf(`sleep ${seconds}`).length > 0);
    await manager.close();
    expect(processesOf(`sleep ${seconds}`)).toEqual([]);
  });

  it.each<[string, Partial<AgentDeps>, Partial<RunOptions>]>([
    ['a model that never answers and cannot be stopped', { createProvider: silent }, {}],
    ['a person who never answers', {}, { approver: () => new Promise(() => {}) }],
  ])('does not wait for %s', async (_name, deps, options) => {
    const world = new AgentWorld([[{ shell: 'touch x' }]], { deps });
    const manager = world.manager();
    const thread = await manager.startThread(world.config({ c: ['approval_policy=untrusted'] }), 'mcp');
    let waits = false;
    void runTurn(thread, 'go', {
      ...options,
      onEvent: event => {
        waits ||=
          event.type === 'approval.requested' || (deps.createProvider !== undefined && event.type === 'item.completed');
      },
    });
    await until(() => waits);
    expect(await manager.close()).toBeUndefined();
  });
});

/** A provider that breaks its contract: nothing comes, and nothing stops it. */
function silent(settings: ProviderSettings): Provider {
  return {
    settings,
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
  };
}

describe('a process with many threads', () => {
  it('goes on with each, although it does not hold all of them in memory', async () => {
    const world = new AgentWorld();
    const manager = world.manager();
    const heap = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const threads: Thread[] = [];
    const before = heap();
    for (let n = 0; n < 100; n++) {
      const thread = await manager.startThread(world.config(), 'mcp');
      threads.push(thread);
      await runTurn(thread, `first ${n} ${'x'.repeat(1024 * 1024)}`);
      world.provider.requests.length = 0;
    }
    expect((heap() - before) / 1024 / 1024).toBeLessThan(60);
    const [first] = threads;
    expect(await manager.getThread(first?.id ?? '')).toBe(first);
    if (first) await runTurn(first, 'second');
    const [one, two] = prompts(world.provider.requests[0]);
    expect([one?.slice(0, 9), two]).toEqual(['first 0 x', 'second']);
    expect(inputOf(world, 0).filter(item => item.type === 'message' && item.role === 'developer')).toHaveLength(1);
  }, 60_000);
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
