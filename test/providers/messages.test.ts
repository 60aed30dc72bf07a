/** The Messages API: thinking and its signatures, blocks nobody knows, stop reasons, caching, models of all ages. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryItem, ModelRequest, ProviderSettings } from '../../src/protocol/index.js';
import { type Body, type ModelServer, sse, startModelServer } from '../support/model-server.js';
import {
  type Answer,
  ask,
  assistant,
  call,
  developer,
  output,
  plain,
  redirected,
  settingsFor,
  TOOLS,
  user,
} from './support.js';
import { WIRES } from './wires.js';

let server: ModelServer;

beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

const last = () => server.requests.at(-1)?.body ?? {};
const events = (...list: object[]) => list.map(event => sse(event, true));
const start = (usage: object = { input_tokens: 10, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { id: 'm1', usage },
});
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const text = (index: number, value: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: value });
const stop = (stop_reason: string | null, usage: object = { output_tokens: 5 }) => [
  { type: 'message_delta', delta: { stop_reason }, usage },
  { type: 'message_stop' },
];
const HELLO = events(start(), ...text(0, 'hello'), ...stop('end_turn'));

const send = async (
  modelId: string,
  changes: Partial<ModelRequest> = {},
  settings: Partial<ProviderSettings> = {},
): Promise<Answer> => {
  const base = settingsFor({
    id: 'anthropic',
    base_url: 'http://api.anthropic.com',
    wire_api: 'messages',
    ...settings,
  });
  return await ask(base, { modelId, tools: TOOLS, ...changes }, { connections: redirected(server.url) });
};

describe('a request', () => {
  beforeEach(() => server.reply({ stream: HELLO }));

  test.each([
    ['http://gateway.test', '/v1/messages'],
    ['http://gateway.test/', '/v1/messages'],
    ['http://gateway.test/v1', '/v1/messages'],
    ['http://gateway.test/anthropic/v1/', '/anthropic/v1/messages'],
    ['http://gateway.test/v1/messages', '/v1/messages'],
  ])('of base %s goes to %s', async (base_url, path) => {
    await send('claude-opus-5', {}, { base_url });
    expect(server.requests[0]?.path).toBe(path);
    expect(server.requests[0]?.headers['anthropic-version']).toBe('2023-06-01');
  });

  test('has instructions and guidance as system blocks, and at most four marks for the cache', async () => {
    const input = [
      developer('D1'),
      user('env'),
      user('q1'),
      assistant('a1'),
      user('q2'),
      call('c', '{"cmd":"ls"}'),
      output('c', 'x'),
    ];
    await send('claude-opus-5', { input });
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(last().system).toEqual([
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'D1', ...mark },
    ]);
    expect(last().messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'env' },
          { type: 'text', text: 'q1' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'a1' }] },
      { role: 'user', content: [{ type: 'text', text: 'q2', ...mark }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'exec_command', input: { cmd: 'ls' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x', ...mark }] },
    ]);
    expect(last().tools.map((tool: Body) => tool['name'])).toEqual(['exec_command', 'noargs', 'apply_patch']);
    expect(last().tool_choice).toEqual({ type: 'auto' });
  });

  const summarized = { type: 'adaptive', display: 'summarized' };
  test.each([
    ['claude-opus-5', null, 64_000, summarized, undefined],
    ['claude-sonnet-5-5', 'high', 64_000, summarized, { effort: 'high' }],
    ['claude-opus-4-8', 'max', 64_000, summarized, { effort: 'xhigh' }],
    ['claude-sonnet-4-6', 'low', 64_000, { type: 'adaptive' }, { effort: 'low' }],
    ['claude-sonnet-4-5-20250929', null, 64_000, { type: 'enabled', budget_tokens: 10_240 }, undefined],
    ['claude-haiku-4-5', 'none', 64_000, undefined, undefined],
    ['claude-3-5-sonnet-20241022', 'high', 64_000, undefined, undefined],
    ['some-model', 'high', 32_000, undefined, undefined],
    ['deepseek-v4-pro', 'high', 64_000, { type: 'enabled' }, { effort: 'high' }],
    ['MiniMax-M3', 'none', 32_000, { type: 'disabled' }, undefined],
    ['MiniMax-M2.5', 'high', 32_000, undefined, undefined],
  ])('for %s with effort %s', async (model, effort, max_tokens, thinking, output_config) => {
    await send(model, { reasoning: { effort, summary: null } });
    expect({ max_tokens: last().max_tokens, thinking: last().thinking, output_config: last().output_config }).toEqual({
      max_tokens,
      thinking,
      output_config,
    });
  });

  test('says when calls may not be parallel, and sends betas to Anthropic alone', async () => {
    await send('claude-sonnet-4-5', { parallel_tool_calls: false });
    expect(last().tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(server.requests[0]?.headers['anthropic-beta']).toContain('interleaved-thinking');
    await send('claude-sonnet-4-5', {}, { id: 'gateway', base_url: 'http://gateway.test' });
    expect(server.requests[1]?.headers['anthropic-beta']).toBe(undefined);
  });

  test('rests from thinking inside a step that another model began', async () => {
    const alien = [user('q'), call('c', '{}'), output('c', 'x')];
    await send('claude-sonnet-4-5', { input: alien });
    expect(last().thinking).toBe(undefined);
    await send('claude-sonnet-4-5', { input: [...alien, user('next')] });
    expect(last().thinking).toBe(undefined);
    await send('claude-sonnet-4-5', { input: [...alien, assistant('done'), user('next')] });
    expect(last().thinking).toMatchObject({ type: 'enabled' });
  });

  test('offers a live search where Anthropic hosts it', async () => {
    const search = { type: 'web_search' as const, external_web_access: true };
    await send('claude-opus-5', { tools: [search] });
    expect(last().tools).toMatchObject([{ name: 'web_search' }]);
    await send('claude-opus-5', { tools: [search] }, { id: 'gateway', base_url: 'http://gateway.test' });
    expect(last().tools).toBe(undefined);
  });

  test('has ids of calls in the form Anthropic takes', async () => {
    await send('claude-opus-5', { input: [user('q'), call('functions.x:0', '{}'), output('functions.x:0', 'y')] });
    const [, step, result] = last().messages;
    expect(step.content[0].id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(result.content[0].tool_use_id).toBe(step.content[0].id);
  });

  test.each([
    ['max_tokens: 64000 > 8192, which is the maximum allowed', (body: Body) => body['max_tokens'], [64_000, 8192]],
    [
      'thinking.adaptive.display: Extra inputs are not permitted',
      (body: Body) => body['thinking'].display,
      ['summarized', undefined],
    ],
  ])('learns from "%s"', async (message, read, values) => {
    server.reply(
      { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } },
      { stream: HELLO },
    );
    expect((await send('claude-opus-5')).text).toBe('hello');
    expect(server.requests.map(({ body }) => read(body))).toEqual(values);
  });
});

describe('thinking', () => {
  const thinking = block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'let me ' },
    { type: 'thinking_delta', thinking: 'see' },
    { type: 'signature_delta', signature: 'sig-1' },
  );
  const redacted = block(1, { type: 'redacted_thinking', data: 'opaque' });
  const unknown = block(2, { type: 'server_thing', id: 's', payload: { deep: [1] } });
  const use = block(
    3,
    { type: 'tool_use', id: 'c', name: 'exec_command', input: {} },
    { type: 'input_json_delta', partial_json: '{"cmd":"ls"}' },
  );

  test('with its signature, redacted thoughts and unknown blocks goes back unchanged, first in its step', async () => {
    server.reply(
      { stream: events(start(), ...thinking, ...redacted, ...unknown, ...use, ...stop('tool_use')) },
      { stream: HELLO },
    );
    const first = await send('claude-opus-5');
    expect(first.events.flatMap(event => (event.type === 'reasoning.delta' ? [event.delta] : []))).toEqual([
      'let me ',
      'see',
    ]);
    expect(first.items[0]).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'let me see' }],
    });
    await send('claude-opus-5', { input: [user('q'), ...first.items, output('c', 'x')] });
    expect(last().messages[1].content).toEqual([
      { type: 'thinking', thinking: 'let me see', signature: 'sig-1' },
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'server_thing', id: 's', payload: { deep: [1] } },
      { type: 'tool_use', id: 'c', name: 'exec_command', input: { cmd: 'ls' } },
    ]);
    await send('MiniMax-M3', { input: [user('q'), ...first.items, output('c', 'x')] });
    expect(last().messages[1].content).toHaveLength(1);
  });

  test('that no longer counts is left out when its signature is refused', async () => {
    const refusal = {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
    };
    server.reply(
      { stream: events(start(), ...thinking, ...use, ...stop('tool_use')) },
      { status: 400, body: refusal },
      { stream: HELLO },
    );
    const first = await send('claude-opus-5');
    const second = await send('claude-opus-5', { input: [user('q'), ...first.items, output('c', 'x')] });
    expect(second.text).toBe('hello');
    expect(last().messages[1].content).toHaveLength(1);
  });

  test('in two blocks has two sections', async () => {
    const more = block(1, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'more' });
    server.reply({ stream: events(start(), ...thinking, ...more, ...text(2, 'hi'), ...stop('end_turn')) });
    const result = await send('claude-opus-5');
    expect(result.items[0]).toMatchObject({ summary: [{ text: 'let me see' }, { text: 'more' }] });
    expect(result.events).toContainEqual(expect.objectContaining({ type: 'reasoning.section', summary_index: 1 }));
  });
});

describe('an answer', () => {
  test('in many text blocks is one message, and its citations go back', async () => {
    const cited = block(
      1,
      { type: 'text', text: '', citations: [] },
      { type: 'citations_delta', citation: { url: 'u' } },
      { type: 'text_delta', text: 'two' },
    );
    server.reply({ stream: events(start(), ...text(0, 'one '), ...cited, ...stop('end_turn')) }, { stream: HELLO });
    const first = await send('claude-opus-5');
    expect(plain(first.items)).toMatchObject([{ type: 'message', content: [{ text: 'one two' }] }]);
    await send('claude-opus-5', { input: [user('q'), ...first.items, user('r')] });
    expect(last().messages[1].content).toEqual([
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two', citations: [{ url: 'u' }] },
    ]);
  });

  test('with calls in between keeps its order', async () => {
    const use = (index: number, id: string) => block(index, { type: 'tool_use', id, name: 'noargs', input: {} });
    server.reply({
      stream: events(
        start(),
        ...text(0, 'first'),
        ...use(1, 'a'),
        ...text(2, 'then'),
        ...use(3, 'b'),
        ...stop('tool_use'),
      ),
    });
    const result = await send('claude-opus-5');
    expect(plain(result.items)).toEqual([
      assistant('first'),
      call('a', '{}', 'noargs'),
      assistant('then'),
      call('b', '{}', 'noargs'),
    ]);
  });

  test('with the input of a call in its start, and one that lacks its end', async () => {
    const whole = block(0, {
      type: 'tool_use',
      id: 'a',
      name: 'exec_command',
      input: { cmd: 'ls', prefix_rule: '["ls"]' },
    });
    const open = block(
      1,
      { type: 'tool_use', id: 'b', name: 'exec_command', input: {} },
      { type: 'input_json_delta', partial_json: '{"cmd":"pwd"}' },
    ).slice(0, -1);
    server.reply({ stream: events(start(), ...whole, ...open, ...stop('tool_use')) });
    const result = await send('claude-opus-5');
    expect(plain(result.items)).toEqual([call('a', '{"cmd":"ls","prefix_rule":["ls"]}'), call('b', '{"cmd":"pwd"}')]);
  });

  test('that was cut before the first argument of a call loses the call', async () => {
    server.reply({
      stream: events(
        start(),
        ...block(0, { type: 'tool_use', id: 'a', name: 'noargs', input: {} }),
        ...stop('max_tokens'),
      ),
    });
    const result = await send('claude-opus-5');
    expect(result.items).toEqual([]);
    expect(result.last).toMatchObject({ type: 'completed', truncated: true });
  });

  test('that pauses is continued, and counted together', async () => {
    const search = block(
      0,
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'input_json_delta', partial_json: '{"query":"x"}' },
    );
    server.reply(
      { stream: events(start(), ...search, ...stop('pause_turn')) },
      { stream: events(start(), ...text(0, 'one '), ...stop('pause_turn')) },
      { stream: events(start(), ...text(0, 'two'), ...stop('end_turn')) },
    );
    const result = await send('claude-opus-5');
    expect(result.events.filter(event => event.type === 'started' || event.type === 'completed')).toHaveLength(2);
    expect(result.text).toBe('one two');
    expect(result.last).toMatchObject({ usage: { input_tokens: 30, output_tokens: 15, total_tokens: 45 } });
    expect(last().messages.at(-1)).toEqual({
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
        { type: 'text', text: 'one ' },
      ],
    });
  });

  test('that pauses for ever is an error', async () => {
    server.reply({ stream: events(start(), ...text(0, 'x'), ...stop('pause_turn')) });
    expect((await send('claude-opus-5')).last).toMatchObject({ type: 'failed', error: { retryable: false } });
  });

  test.each([
    ['refusal', { kind: 'other', retryable: false }],
    ['model_context_window_exceeded', { kind: 'context_window_exceeded', retryable: false }],
  ])('with stop reason %s is an error', async (reason, error) => {
    server.reply({ stream: events(start(), ...text(0, 'x'), ...stop(reason)) });
    expect((await send('claude-opus-5')).last).toMatchObject({ type: 'failed', error });
  });

  test.each(['end_turn', 'stop_sequence', 'something_new', null])('with stop reason %s is whole', async reason => {
    server.reply({ stream: events(start(), { type: 'ping' }, { type: 'news' }, ...text(0, 'x'), ...stop(reason)) });
    expect((await send('claude-opus-5')).last).toMatchObject({ type: 'completed', truncated: false });
  });

  test('without an end mark is whole when its stop reason came', async () => {
    server.reply({ stream: HELLO.slice(0, -1) });
    expect((await send('claude-opus-5')).last.type).toBe('completed');
    server.reply({ stream: HELLO.slice(0, -2) });
    expect((await send('claude-opus-5')).last.type).toBe('failed');
  });

  test('of a server that does not stream is understood', async () => {
    const content = [
      { type: 'text', text: 'hi' },
      { type: 'tool_use', id: 'a', name: 'noargs', input: {} },
    ];
    server.reply({
      status: 200,
      body: {
        type: 'message',
        id: 'm',
        content,
        stop_reason: 'tool_use',
        usage: { input_tokens: 3, output_tokens: 4 },
      },
    });
    const result = await send('claude-opus-5');
    expect(plain(result.items)).toEqual([assistant('hi'), call('a', '{}', 'noargs')]);
    expect(result.last).toMatchObject({ usage: { total_tokens: 7 } });
  });

  test('counts cached input as input', async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 30, output_tokens: 1 };
    server.reply({ stream: events(start(usage), ...text(0, 'x'), ...stop('end_turn', { output_tokens: 7 })) });
    expect((await send('claude-opus-5')).last).toMatchObject({
      usage: {
        input_tokens: 240,
        cached_input_tokens: 200,
        cache_write_input_tokens: 30,
        output_tokens: 7,
        total_tokens: 247,
      },
    });
  });
});

test('a history that begins with the model gets a user message first', async () => {
  server.reply({ stream: HELLO });
  const input: HistoryItem[] = [assistant('late'), user('q')];
  await send('claude-opus-5', { input });
  expect(WIRES[2]?.fault(last())).toBe(null);
});
