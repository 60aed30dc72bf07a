import { describe, expect, it } from 'vitest';
import type { HistoryItem, ModelRequest } from '../../src/protocol/index.js';
import { AgentWorld, runTurn, type Turn } from '../support/agent-world.js';
import { type ModelAnswerScript, type ModelStep, outputOf, textsOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';

const used = (input: number): ModelStep => ({ usage: { input, output: 0 } });
const summary = (text = 'THE SUMMARY', input = 50): ModelAnswerScript => [{ say: text }, used(input)];
const PROMPT = 'SUMMARISE NOW';
const limit = (tokens: number): string[] => [`model_auto_compact_token_limit=${tokens}`, `compact_prompt="${PROMPT}"`];
const isCompaction = (request: ModelRequest) => textsOf(request, 'user').at(-1) === PROMPT;

/** Each message by role and beginning, everything else by its type. */
function outline(request: ModelRequest | undefined): string[] {
  return (request?.input ?? []).map(item => {
    if (item.type !== 'message') return item.type;
    const [first] = item.content;
    const text = first && 'text' in first ? first.text : (first?.type ?? '');
    return `${item.role}: ${text.split('\n')[0]?.slice(0, 24).trim()}`;
  });
}

const CONTEXT = ['developer: <permissions instruction', 'user: <environment_context>'];
const SUMMARY = 'user: An earlier part of this';

function compactions(turn: Turn): number {
  return turn.events.filter(event => event.type === 'context.compacted').length;
}

const sizeOf = (items: readonly HistoryItem[]): number => JSON.stringify(items).length;

describe('a thread that is over its limit', () => {
  it('is compacted before its next turn: context, prompts, summary, new prompt', async () => {
    const world = new AgentWorld([
      [{ shell: 'echo OLD-OUTPUT', id: 'c' }],
      [{ say: 'a1' }, used(5000)],
      summary(),
      [{ say: 'a2' }],
    ]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    const [, second, asked, after] = world.provider.requests;
    expect(outline(asked)).toEqual([...outline(second), 'assistant: a1', `user: ${PROMPT}`]);
    expect(asked).toMatchObject({ tools: [], window: 0, instructions: second?.instructions });
    expect(outline(after)).toEqual([...CONTEXT, 'user: q1', SUMMARY, 'user: q2']);
    expect(textsOf(after, 'user').at(-2)).toMatch(/\nTHE SUMMARY$/);
    expect(after?.window).toBe(1);
    expect(turn).toMatchObject({ status: 'completed', content: 'a2' });
    expect(turn.usage.input_tokens).toBe(10 + 5000 + 50 + 10);
  });

  it('tells its events in order, with a history that no longer changes', async () => {
    const world = new AgentWorld([[{ say: 'a1' }, used(5000)], summary()]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    const from = turn.events.findIndex(event => event.type === 'item.started' && event.item.type === 'compaction');
    const kinds = turn.events
      .slice(from)
      .map(event => ('item' in event ? `${event.type} ${event.item.type}` : event.type));
    expect(kinds.slice(0, 6)).toEqual([
      'item.started compaction',
      'usage.updated',
      'usage.updated',
      'item.completed compaction',
      'context.compacted',
      'item.completed warning',
    ]);
    const compacted = turn.events.find(event => event.type === 'context.compacted');
    expect(compacted?.message).toMatch(/^An earlier part[\s\S]*\nTHE SUMMARY$/);
    expect(compacted?.replacement.length).toBe(CONTEXT.length + 2);
    expect(turn.warnings).toEqual([expect.stringMatching(/^The thread was compacted/)]);
  });

  it('is compacted in the middle of a turn, with the context before the prompt of that turn', async () => {
    const world = new AgentWorld([
      [{ say: 'a1' }],
      [{ think: 'hm' }, { shell: 'echo OUT', id: 'c' }, used(6000)],
      summary(),
      [{ say: 'a2' }],
    ]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    const [, , asked, after] = world.provider.requests;
    expect(outline(asked).slice(-4)).toEqual(['reasoning', 'function_call', 'function_call_output', `user: ${PROMPT}`]);
    expect(outline(after)).toEqual(['user: q1', ...CONTEXT, 'user: q2', SUMMARY]);
    expect(turn).toMatchObject({ content: 'a2' });
  });

  it('is not compacted at the end of a turn, nor below the limit', async () => {
    const world = new AgentWorld([
      [{ say: 'a1' }, used(4999)],
      [{ say: 'a2' }, used(9000)],
    ]);
    const thread = await world.thread({ c: limit(5000) });
    expect(compactions(await runTurn(thread, 'q1'))).toBe(0);
    expect(compactions(await runTurn(thread, 'q2'))).toBe(0);
    expect(world.provider.requests).toHaveLength(2);
  });

  it.each([
    ['the window of the model', [], 900],
    ['a configured window', ['model_context_window=2000'], 1800],
    ['a limit above the window', ['model_auto_compact_token_limit=50000'], 900],
  ])('is compacted at 90 % of %s', async (_name, c, threshold) => {
    for (const [tokens, count] of [
      [threshold - 1, 0],
      [threshold, 1],
    ] as const) {
      const world = new AgentWorld([[{ say: 'a1' }, used(tokens)]], { model: { context_window: 1000 } });
      const thread = await world.thread({ c });
      await runTurn(thread, 'q1');
      expect(compactions(await runTurn(thread, 'q2'))).toBe(count);
    }
  });

  it('is asked with words of our own where none are configured', async () => {
    const world = new AgentWorld([[{ say: 'a1' }, used(5000)], summary()]);
    const thread = await world.thread({ c: ['model_auto_compact_token_limit=5000'] });
    await runTurn(thread, 'q1');
    await runTurn(thread, 'q2');
    expect(textsOf(world.provider.requests[1], 'user').at(-1)).toMatch(/hand-off summary/);
  });

  it('goes on without a summary when the model gives none', async () => {
    const world = new AgentWorld([[{ say: 'a1' }, used(5000)], [used(1)], [{ say: 'a2' }]]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    await runTurn(thread, 'q2');
    expect(textsOf(world.provider.requests[2], 'user').at(-2)).toMatch(/\n\(no summary available\)$/);
  });

  it('is compacted a second time without the first summary among the prompts', async () => {
    const world = new AgentWorld([
      [{ say: 'a1' }, used(5000)],
      summary('FIRST'),
      [{ say: 'a2' }, used(5000)],
      summary('SECOND'),
      [{ say: 'a3' }],
    ]);
    const thread = await world.thread({ c: limit(5000) });
    for (const prompt of ['q1', 'q2', 'q3']) await runTurn(thread, prompt);
    const last = world.provider.requests.at(-1);
    expect(outline(last)).toEqual([...CONTEXT, 'user: q1', 'user: q2', SUMMARY, 'user: q3']);
    expect(JSON.stringify(last?.input)).not.toContain('FIRST');
    expect(last?.window).toBe(2);
  });

  it('is as compacted for a process that goes on with it', async () => {
    const world = new AgentWorld([[{ say: 'a1' }, used(5000)], summary('S', 9000), [{ say: 'a2' }], [{ say: 'a3' }]]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    await runTurn(thread, 'q2');
    await runTurn(await world.manager().getThread(thread.id), 'q3');
    expect(outline(world.provider.requests[3])).toEqual([
      ...CONTEXT,
      'user: q1',
      SUMMARY,
      'user: q2',
      'assistant: a2',
      'user: q3',
    ]);
    expect(world.provider.requests[3]?.window).toBe(1);
  });

  it('is not compacted again by a process that goes on right behind the compaction', async () => {
    const failing: ModelAnswerScript = [{ fail: { message: 'no' } }];
    const world = new AgentWorld([[{ say: 'a1' }, used(5000)], summary('S', 9000), failing, [{ say: 'a3' }]]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    await runTurn(thread, 'q2');
    expect(compactions(await runTurn(await world.manager().getThread(thread.id), 'q3'))).toBe(0);
  });

  it('has its running commands named in the new history', async () => {
    const world = new AgentWorld([
      [{ shell: 'echo up; exec sleep 60', id: 'c', args: { yield_time_ms: 250 } }, used(9000)],
      summary(),
      [{ say: 'a1' }],
    ]);
    await runTurn(await world.thread({ c: limit(5000) }), 'q1');
    const session = /session ID (\d+)/.exec(outputOf(world.provider.requests[1], 'c') ?? '')?.[1];
    expect(textsOf(world.provider.requests[2], 'user').at(-1)).toMatch(
      new RegExp(`THE SUMMARY\n\nCommands that are still running:\n- session ${session}: echo up; exec sleep 60$`),
    );
  });

  it('that stays over it ends with the reason after three compactions', async () => {
    const full: ModelAnswerScript = request =>
      isCompaction(request) ? [{ say: 'S' }, used(9000)] : [{ shell: 'true' }, used(9000)];
    const world = new AgentWorld(Array.from({ length: 20 }, () => full));
    const turn = await runTurn(await world.thread({ c: limit(5000) }), 'q1');
    expect(turn).toMatchObject({ status: 'failed', error: { kind: 'context_window_exceeded' } });
    expect(turn.error?.message).toMatch(/stays over its limit of 5000 tokens after 3 compactions.*it has 9000/);
    expect(compactions(turn)).toBe(3);
    expect(world.provider.requests).toHaveLength(7);
  });

  it('may be compacted more often when it was below the limit in between', async () => {
    let answers = 0;
    const script: ModelAnswerScript = request => {
      if (isCompaction(request)) return [{ say: 'S' }, used(10)];
      answers++;
      if (answers > 10) return [{ say: 'done' }, used(10)];
      return [{ shell: 'true' }, used(answers % 2 === 1 ? 9000 : 10)];
    };
    const world = new AgentWorld(Array.from({ length: 40 }, () => script));
    const turn = await runTurn(await world.thread({ c: limit(5000) }), 'q1');
    expect(turn).toMatchObject({ status: 'completed', content: 'done' });
    expect(compactions(turn)).toBe(5);
  });
});

describe('prompts in a compaction', () => {
  async function after(prompts: string[]): Promise<string[]> {
    const answers = prompts.map(
      (_, n): ModelAnswerScript => [{ say: 'a' }, used(n === prompts.length - 1 ? 9000 : 10)],
    );
    const world = new AgentWorld([...answers, summary(), [{ say: 'end' }]]);
    const thread = await world.thread({ c: limit(5000) });
    for (const prompt of prompts) await runTurn(thread, prompt);
    await runTurn(thread, 'last');
    return textsOf(world.provider.requests.at(-1), 'user').slice(1, -2);
  }

  it('are kept word for word, the newest first, as far as 20,000 tokens go', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map(letter => letter.repeat(40_000));
    const kept = await after([a ?? '', b ?? '', c ?? '']);
    expect(kept).toEqual([b, c]);
  });

  it('of which the oldest that does not fit is cut in the middle', async () => {
    const [a, b] = [`HEAD${'é'.repeat(30_000)}TAIL`, 'b'.repeat(60_000)];
    const kept = await after([a, b]);
    expect(kept[1]).toBe(b);
    expect(kept[0]).toMatch(/^HEADé+…\d+ tokens truncated…é+TAIL$/);
    expect(Buffer.byteLength((kept[0] ?? '').replace(/…\d+ tokens truncated…/, ''))).toBeLessThanOrEqual(20_000);
  });

  it('do not count AGENTS.md, skills, hooks and interrupts', async () => {
    const stop = new AbortController();
    const world = new AgentWorld([[{ stall: true }]]);
    world.write('work/AGENTS.md', 'rules');
    const thread = await world.thread({ c: limit(5000) });
    const running = runTurn(thread, 'q1', { signal: stop.signal });
    await until(() => world.provider.requests.length === 1);
    stop.abort();
    await running;
    world.provider.add([{ say: 'a' }, used(9000)], summary());
    await runTurn(thread, 'q2');
    await runTurn(thread, 'q3');
    expect(outline(world.provider.requests.at(-1))).toEqual([
      CONTEXT[0],
      'user: # AGENTS.md instructions',
      'user: q1',
      'user: q2',
      SUMMARY,
      'user: q3',
    ]);
  });
});

describe('a request that is too long', () => {
  const tooLong: ModelStep = { fail: { message: 'too long', kind: 'context_window_exceeded' } };

  it('makes the thread be compacted, and the turn goes on', async () => {
    const world = new AgentWorld([[{ say: 'a1' }], [tooLong], summary(), [{ say: 'a2' }]]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    expect(turn).toMatchObject({ status: 'completed', content: 'a2' });
    expect(outline(world.provider.requests[3])).toEqual(['user: q1', ...CONTEXT, 'user: q2', SUMMARY]);
  });

  it('again and again fails the turn with what the provider says', async () => {
    const script: ModelAnswerScript = request => (isCompaction(request) ? [{ say: 'S' }] : [tooLong]);
    const world = new AgentWorld([[{ say: 'a1' }], ...Array.from({ length: 20 }, () => script)]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    expect(turn).toMatchObject({
      status: 'failed',
      error: { message: 'too long', kind: 'context_window_exceeded' },
    });
    expect(world.provider.requests).toHaveLength(8);
  });

  it('for its one prompt fails at once; a shorter one then goes on with the thread', async () => {
    const script: ModelAnswerScript = request =>
      sizeOf(request.input) > 90_000 ? [tooLong] : isCompaction(request) ? [{ say: 'S' }] : [{ say: 'fine' }];
    const world = new AgentWorld(Array.from({ length: 20 }, () => script));
    const thread = await world.thread();
    const turn = await runTurn(thread, 'p'.repeat(200_000));
    expect(turn).toMatchObject({ status: 'failed', error: { kind: 'context_window_exceeded' } });
    expect(turn.error?.message).toMatch(/^too long \(the prompt alone does not fit; shorten it/);
    expect(world.provider.requests).toHaveLength(1);
    expect(await runTurn(thread, 'q2')).toMatchObject({ status: 'completed', content: 'fine' });
  });

  /** A model that takes no more than `most` characters of input. */
  const narrow =
    (most: number, then: (request: ModelRequest) => readonly ModelStep[]): ModelAnswerScript =>
    request =>
      sizeOf(request.input) > most ? [tooLong] : then(request);

  it('for a compaction loses tool outputs first, the oldest first, and nothing else where that is enough', async () => {
    const script: ModelAnswerScript = narrow(14_000, () => summary() as readonly ModelStep[]);
    const big = (id: string) => ({ shell: `head -c 8000 /dev/zero | tr '\\0' ${id}`, id });
    const world = new AgentWorld([[big('x')], [big('y'), used(9000)], ...Array.from({ length: 9 }, () => script)]);
    await runTurn(await world.thread({ c: limit(5000) }), 'the prompt');
    const asked = world.provider.requests.filter(isCompaction).at(-1);
    expect(outputOf(asked, 'x')).toBe('[output removed to save space]');
    expect(outputOf(asked, 'y')).toContain('yyyy');
    expect(textsOf(asked, 'user')).toContain('the prompt');
  });

  it('for a compaction then loses the oldest items, calls together with their outputs', async () => {
    const script: ModelAnswerScript = narrow(9000, () => summary() as readonly ModelStep[]);
    const answers = Array.from(
      { length: 30 },
      (_, n): ModelAnswerScript => [{ say: `note ${n} ${'n'.repeat(300)}` }, { shell: 'true', id: `c${n}` }],
    );
    const world = new AgentWorld([
      ...answers,
      [{ shell: 'true', id: 'last' }, used(9000)],
      ...Array.from({ length: 12 }, () => script),
    ]);
    const turn = await runTurn(await world.thread({ c: limit(5000) }), 'q1');
    expect(turn.status).toBe('completed');
    const asked = world.provider.requests.filter(isCompaction).at(-1)?.input ?? [];
    const calls = asked.flatMap(item => (item.type === 'function_call' ? [item.call_id] : []));
    const outputs = asked.flatMap(item => (item.type === 'function_call_output' ? [item.call_id] : []));
    expect(calls.length).toBeGreaterThan(2);
    expect(outputs).toEqual(calls);
    expect(calls.at(-1)).toBe('last');
    expect(sizeOf(asked)).toBeLessThanOrEqual(9000);
  });

  it('for a compaction cuts what is left, when that is one huge prompt', async () => {
    const script: ModelAnswerScript = request =>
      isCompaction(request) && sizeOf(request.input) > 5000 ? [tooLong] : (summary() as readonly ModelStep[]);
    const world = new AgentWorld([[{ say: 'a' }, used(9000)], ...Array.from({ length: 20 }, () => script)]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'p'.repeat(60_000));
    const turn = await runTurn(thread, 'q2');
    expect(turn).toMatchObject({ status: 'completed' });
    expect(compactions(turn)).toBe(1);
  });

  it('also after a compaction keeps less of the prompts the next time', async () => {
    const script: ModelAnswerScript = narrow(12_000, () => summary() as readonly ModelStep[]);
    const world = new AgentWorld([[{ say: 'a' }, used(10)], ...Array.from({ length: 40 }, () => script)]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'p'.repeat(60_000));
    const turn = await runTurn(thread, 'q2');
    expect(turn).toMatchObject({ status: 'completed', content: 'THE SUMMARY' });
    expect(textsOf(world.provider.requests.at(-1), 'user')).toContain('q2');
  });

  it('for every compaction fails the turn with the reason', async () => {
    const world = new AgentWorld([[{ say: 'a' }, used(9000)], ...Array.from({ length: 20 }, () => [tooLong])]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    expect(turn).toMatchObject({ status: 'failed', error: { kind: 'context_window_exceeded' } });
    expect(turn.error?.message).toBe('The thread is full and could not be compacted: too long');
  });
});

describe('a compaction that fails', () => {
  it('is tried again as often as a stream, then fails the turn; the thread stays as it was', async () => {
    const broken: ModelAnswerScript = [
      { fail: { message: 'broken', kind: 'stream_disconnected', retryable: true, retry_after_ms: 1 } },
    ];
    const world = new AgentWorld([[{ say: 'a1' }, used(9000)], broken, broken, summary('S')], {
      provider: { stream_max_retries: 1 },
    });
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    expect(turn).toMatchObject({
      status: 'failed',
      error: { message: 'The thread is full and could not be compacted: broken', kind: 'stream_disconnected' },
    });
    expect(turn.events.filter(event => event.type === 'retry')).toHaveLength(1);
    expect(await runTurn(thread, 'q3')).toMatchObject({ status: 'completed' });
    expect(outline(world.provider.requests.at(-1))).toEqual([...CONTEXT, 'user: q1', SUMMARY, 'user: q3']);
  });

  it('ends at once when the turn is interrupted', async () => {
    const world = new AgentWorld([[{ say: 'a1' }, used(9000)], [{ stall: true }]]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const stop = new AbortController();
    const running = runTurn(thread, 'q2', { signal: stop.signal });
    await until(() => world.provider.requests.length === 2);
    stop.abort();
    expect(await running).toMatchObject({ status: 'aborted', aborted_by: 'signal' });
  });
});

describe('a provider that counts no tokens', () => {
  const uncounted: ModelStep = { usage: null };

  it('has them estimated: four bytes each', async () => {
    const world = new AgentWorld([
      [{ say: 'a'.repeat(21_000) }, uncounted],
      [{ say: 'S' }, uncounted],
    ]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    const turn = await runTurn(thread, 'q2');
    expect(compactions(turn)).toBe(1);
    expect(turn.usage.total_tokens).toBe(15);
  });

  it('has them estimated by the next process too', async () => {
    const world = new AgentWorld([
      [{ say: 'a'.repeat(21_000) }, uncounted],
      [{ say: 'S' }, uncounted],
    ]);
    const thread = await world.thread({ c: limit(5000) });
    await runTurn(thread, 'q1');
    expect(compactions(await runTurn(await world.manager().getThread(thread.id), 'q2'))).toBe(1);
  });

  it('does not have a picture counted by the size of its file', async () => {
    const image = Buffer.concat([
      Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64'),
      Buffer.alloc(100_000, 7),
    ]);
    const world = new AgentWorld([[{ call: 'view_image', args: { path: 'big.png' } }, uncounted], [uncounted]]);
    world.write('work/big.png', image);
    const turn = await runTurn(await world.thread({ c: limit(5000) }), 'look');
    expect(turn.items.some(item => item.type === 'image_view')).toBe(true);
    expect(compactions(turn)).toBe(0);
  });
});
