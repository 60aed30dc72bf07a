/** Streams cut into any pieces and broken off anywhere: the same items or a clean failure, never half a tool call. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HistoryItem, ProviderSettings } from '../../src/protocol/index.js';
import { createConnections, createProvider } from '../../src/providers/index.js';
import { type ModelServer, sse, startModelServer } from '../support/model-server.js';
import { collect, DEPS, plain, requestFor, settingsFor, TOOLS } from './support.js';
import { type Step, WIRES } from './wires.js';

const STEPS: readonly Step[] = [
  { think: 'let me sée — 🤔' },
  { say: 'first\nthe "list" of äöü 🙂' },
  { call: 'exec_command', id: 'c1', args: '{"cmd":"echo \\"ünï\\" \\\\n","yield_time_ms":250}' },
  { call: 'noargs', id: 'c2', args: '{}' },
  { custom: 'apply_patch', id: 'c3', input: '*** Begin Patch\n+ü\n*** End Patch' },
];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

describe.each(WIRES)('$wire', wire => {
  const connections = createConnections({});
  const modelId = wire.wire === 'responses' ? 'gpt-5.4' : 'some-model';
  const settings = (): ProviderSettings => settingsFor({ base_url: server.url, wire_api: wire.wire });
  const read = async (pieces: readonly string[] | readonly Buffer[]) => {
    server.reply({ stream: pieces });
    const provider = createProvider(settings(), { ...DEPS, connections });
    const request = requestFor(settings(), { tools: TOOLS, modelId });
    return await collect(provider.stream(request, new AbortController().signal));
  };
  const whole = () => Buffer.from(wire.stream(STEPS).join(''));

  /** What happened, in items and texts, without ids that are made up. */
  const summary = (items: readonly HistoryItem[]) => JSON.parse(JSON.stringify(plain(items)));

  test('any chunking gives the same items', async () => {
    const bytes = whole();
    const expected = summary((await read([bytes])).items);
    expect(expected.map((item: HistoryItem) => item.type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'function_call',
      'custom_tool_call',
    ]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 }), async cuts => {
        const { items, last, text } = await read(split(bytes, cuts));
        expect(summary(items)).toEqual(expected);
        expect(last).toMatchObject({ type: 'completed', truncated: false });
        expect(text).toBe('first\nthe "list" of äöü 🙂');
      }),
      { numRuns: 60 },
    );
  });

  test('any cut gives a prefix of the items and a failure, or everything', async () => {
    const bytes = whole();
    const expected = summary((await read([bytes])).items);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.length - 1 }), fc.boolean(), async (at, hard) => {
        server.reply({ stream: [bytes.subarray(0, at)], ending: hard ? 'reset' : 'end' });
        const provider = createProvider(settings(), { ...DEPS, connections });
        const { items, last } = await collect(
          provider.stream(requestFor(settings(), { tools: TOOLS, modelId }), new AbortController().signal),
        );
        const complete = last.type === 'completed';
        expect(complete || (last.type === 'failed' && last.error.retryable)).toBe(true);
        expect(summary(items)).toEqual(complete ? expected : expected.slice(0, items.length));
      }),
      { numRuns: 80 },
    );
  });

  test('no bytes whatever break the promises of a stream', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string(), fc.json(), fc.constantFrom(...wire.stream(STEPS))), { maxLength: 8 }),
        async parts => {
          const { events, last } = await read(
            parts.map(part => (part.startsWith('data:') || part.startsWith('event:') ? part : sse(part))),
          );
          const ends = events.filter(event => event.type === 'completed' || event.type === 'failed');
          expect(ends).toEqual([last]);
          expect(JSON.stringify(last)).not.toMatch(/inside this program/);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('chat', () => {
  type Piece = { index: number; id?: string; name?: string; arguments?: string };
  const calls = [
    { id: 'a', name: 'exec_command', text: '{"cmd":"echo one; echo \\"1\\""}' },
    { id: 'b', name: 'exec_command', text: '{"cmd":"echo two","tty":true}' },
    { id: 'c', name: 'exec_command', text: '{"cmd":"echo three"}' },
  ];

  test('deltas of parallel calls in any order across calls give the same calls', async () => {
    const settings = settingsFor({ base_url: server.url, wire_api: 'chat' });
    const provider = createProvider(settings, DEPS);
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), fc.boolean(), fc.boolean(), async (random, repeatIds, grouped) => {
        const next = (limit: number) => (random.next().value ?? 0) % limit;
        const queues = calls.map((entry, index) => piecesOf(entry, index, next, repeatIds));
        const pieces: Piece[] = [];
        // Calls begin in order; after that their pieces mix as they like.
        for (const queue of queues) pieces.push(...queue.splice(0, 1));
        while (queues.some(queue => queue.length > 0)) {
          const open = queues.filter(queue => queue.length > 0);
          pieces.push(...(open[next(open.length)]?.splice(0, 1) ?? []));
        }
        const groups = grouped
          ? [pieces.slice(0, 3), ...pieces.slice(3).map(piece => [piece])]
          : pieces.map(piece => [piece]);
        const stream = groups.map(group =>
          sse({ choices: [{ index: 0, delta: { tool_calls: group.map(wirePiece) }, finish_reason: null }] }),
        );
        server.reply({
          stream: [...stream, sse({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }), sse('[DONE]')],
        });
        const { items } = await collect(
          provider.stream(requestFor(settings, { tools: TOOLS }), new AbortController().signal),
        );
        expect(plain(items)).toEqual(
          calls.map(({ id, name, text }) => ({ type: 'function_call', call_id: id, name, arguments: text })),
        );
      }),
      { numRuns: 80 },
    );
  });

  function piecesOf(
    entry: (typeof calls)[number],
    index: number,
    next: (limit: number) => number,
    repeatIds: boolean,
  ): Piece[] {
    const pieces: Piece[] = [{ index, id: entry.id, name: entry.name, arguments: '' }];
    for (let at = 0; at < entry.text.length; ) {
      const length = 1 + next(12);
      pieces.push({ index, ...(repeatIds ? { id: entry.id } : {}), arguments: entry.text.slice(at, at + length) });
      at += length;
    }
    return pieces;
  }

  function wirePiece({ index, id, name, arguments: text }: Piece): object {
    return {
      index,
      ...(id === undefined ? {} : { id, type: 'function' }),
      function: { ...(name === undefined ? {} : { name }), arguments: text },
    };
  }
});

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...new Set([...cuts].sort((a, b) => a - b)), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}
