/** The same cases against every wire: what the agent relies on, whoever answers. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryItem, ModelRequest, ProviderSettings } from '../../src/protocol/index.js';
import { createConnections, createProvider } from '../../src/providers/index.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import {
  type Answer,
  ask,
  assistant,
  call,
  collect,
  DEPS,
  developer,
  output,
  plain,
  redirected,
  requestFor,
  settingsFor,
  TOOLS,
  user,
} from './support.js';
import { USAGE, WIRES } from './wires.js';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

describe.each(WIRES)('$wire', wire => {
  let server: ModelServer;
  let settings: ProviderSettings;

  beforeEach(async () => {
    server = await startModelServer();
    settings = settingsFor({ base_url: server.url, wire_api: wire.wire });
  });
  afterEach(() => server.close());

  const answer = (...stream: string[]) => server.reply({ stream });
  const last = () => server.requests.at(-1)?.body ?? {};
  const send = (changes: Partial<ModelRequest> & { modelId?: string } = {}) => ask(settings, changes);
  const error = (result: Answer) => {
    if (result.last.type !== 'failed') throw new Error(`not failed: ${JSON.stringify(result.last)}`);
    return result.last.error;
  };

  test('a text is streamed, then whole, then counted', async () => {
    answer(...wire.stream([{ say: 'hello world' }]));
    const result = await send();
    const id = result.items[0]?.id;
    expect(result.events).toEqual([
      { type: 'started' },
      { type: 'item.started', item_id: id, kind: 'message' },
      { type: 'text.delta', item_id: id, delta: 'hello ' },
      { type: 'text.delta', item_id: id, delta: 'world' },
      { type: 'item.completed', item: { ...assistant('hello world'), id } },
      {
        type: 'completed',
        response_id: expect.any(String),
        usage: { ...USAGE, cache_write_input_tokens: 0 },
        truncated: false,
      },
    ]);
    expect(server.requests[0]?.path).toBe(wire.path);
    expect(server.requests[0]?.headers['user-agent']).toMatch(/^test\/1\.2\.3 \(/);
    expect(last().stream).toBe(true);
    expect(wire.fault(last())).toBe(null);
  });

  test('reasoning is told apart from the answer and goes back with the next request', async () => {
    answer(...wire.stream([{ think: 'let me see' }, { call: 'exec_command', id: 'c1', args: '{"cmd":"ls"}' }]));
    const first = await send({ tools: TOOLS });
    expect(first.text).toBe('');
    expect(first.items.map(item => item.type)).toEqual(['reasoning', 'function_call']);
    const kinds = first.events.map(event => event.type);
    expect(kinds.indexOf('item.started')).toBeLessThan(kinds.findIndex(kind => kind.startsWith('reasoning.')));

    answer(...wire.stream([{ say: 'done' }]));
    await send({ tools: TOOLS, input: [user('hello'), ...first.items, output('c1', 'a.txt')] });
    expect(wire.fault(last())).toBe(null);
    expect(JSON.stringify(last())).toContain('let me see');
  });

  test('parallel calls come one by one, whole, under their ids', async () => {
    const calls = [
      { call: 'exec_command', id: 'c1', args: '{"cmd":"ls"}' },
      { call: 'noargs', id: 'c2', args: '' },
    ];
    answer(...wire.stream(calls));
    const result = await send({ tools: TOOLS });
    expect(plain(result.items)).toEqual([call('c1', '{"cmd":"ls"}'), call('c2', '{}', 'noargs')]);
  });

  test('a freeform tool is offered as a function where it must be, and its call comes back freeform', async () => {
    const patch = '*** Begin Patch\n*** End Patch';
    const asFunction = { call: 'apply_patch', id: 'c1', args: JSON.stringify({ input: patch }) };
    answer(...wire.stream([asFunction]));
    const first = await send({ tools: TOOLS });
    expect(plain(first.items)).toEqual([
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: patch },
    ]);

    answer(...wire.stream([{ say: 'done' }]));
    const result: HistoryItem = { type: 'custom_tool_call_output', call_id: 'c1', output: 'Success' };
    await send({ tools: TOOLS, input: [user('hello'), ...first.items, result] });
    expect(wire.fault(last())).toBe(null);
    const sent = JSON.stringify(last());
    expect(sent).toContain('Success');
    expect(sent).not.toContain('custom_tool_call');
  });

  test('images of prompts and of tool results reach the model, and are left out where it takes none', async () => {
    answer(...wire.stream([{ say: 'a dot' }]));
    const image = { type: 'input_image' as const, image_url: PIXEL };
    const input: HistoryItem[] = [
      { type: 'message', role: 'user', content: [image, { type: 'input_text', text: 'what is it?' }] },
      call('c1', '{"cmd":"x"}'),
      { type: 'function_call_output', call_id: 'c1', output: [image] },
    ];
    await send({ input, tools: TOOLS });
    expect(wire.fault(last())).toBe(null);
    expect(wire.images(last())).toEqual([PIXEL, PIXEL]);

    await send({ input, tools: TOOLS, modelId: 'glm-5' });
    expect(wire.fault(last())).toBe(null);
    expect(JSON.stringify(last())).not.toContain('iVBOR');
    expect(JSON.stringify(last())).toContain('image was left out');
  });

  test('a schema for the answer is enforced or at least told', async () => {
    answer(...wire.stream([{ say: '{"ok":true}' }]));
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const vendor = { responses: settings.base_url, chat: settings.base_url, messages: 'http://api.anthropic.com' };
    const enforcing = { ...settings, base_url: vendor[wire.wire] };
    const changes = { output_schema: schema, modelId: 'claude-opus-4-6' };
    const result = await ask(enforcing, changes, { connections: redirected(server.url) });
    expect(wire.schema(last())).toEqual(schema);
    expect(result.text).toBe('{"ok":true}');

    if (wire.wire === 'responses') return;
    await send({ output_schema: schema, tools: TOOLS });
    expect(wire.schema(last())).toBe(undefined);
    expect(JSON.stringify(last())).toContain('additionalProperties');
  });

  test('half a surrogate pair does not make a request that strict servers refuse', async () => {
    answer(...wire.stream([{ say: 'ok' }]));
    await send({ input: [user('cut \ud83d')] });
    expect(JSON.stringify(last())).toContain('cut \ufffd');
  });

  test('an interrupt closes the connection at once and ends the stream', async () => {
    server.reply({ stream: wire.stream([{ say: 'hello' }], 'none'), ending: 'open' });
    const controller = new AbortController();
    const provider = createProvider(settings, DEPS);
    const events: string[] = [];
    for await (const event of provider.stream(requestFor(settings), controller.signal)) {
      events.push(event.type === 'failed' ? `${event.type} ${event.error.kind} ${event.error.retryable}` : event.type);
      if (event.type === 'text.delta') controller.abort();
    }
    expect(events.at(-1)).toBe('failed other false');
    expect(await server.requests[0]?.closed).toBe('cut');
  });

  test('an interrupt before the answer and before the request ends the stream', async () => {
    server.reply('silence');
    const controller = new AbortController();
    const provider = createProvider(settings, DEPS);
    const running = collect(provider.stream(requestFor(settings), controller.signal));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort();
    expect(error(await running)).toMatchObject({ kind: 'other', retryable: false });
    expect(await server.requests[0]?.closed).toBe('cut');
    expect(error(await collect(provider.stream(requestFor(settings), controller.signal)))).toMatchObject({
      kind: 'other',
    });
    expect(server.requests.length).toBe(1);
  });

  test('a consumer that stops reading closes the connection', async () => {
    server.reply({ stream: wire.stream([{ say: 'hello' }], 'none'), ending: 'open' });
    const provider = createProvider(settings, DEPS);
    for await (const event of provider.stream(requestFor(settings), new AbortController().signal)) {
      if (event.type === 'text.delta') break;
    }
    expect(await server.requests[0]?.closed).toBe('cut');
  });

  test.each([
    [400, { error: { message: 'Unsupported parameter: quux' } }, 'bad_request', false],
    [401, { error: { message: 'Incorrect API key' } }, 'unauthorized', false],
    [402, { error: { message: 'no balance' } }, 'usage_limit_exceeded', false],
    [403, { detail: 'not for you' }, 'unauthorized', false],
    [404, { error: 'no such model' }, 'bad_request', false],
    [400, { error: { message: 'no', code: 'context_length_exceeded' } }, 'context_window_exceeded', false],
    [
      400,
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' } },
      'context_window_exceeded',
      false,
    ],
    [413, { error: { message: 'too large' } }, 'context_window_exceeded', false],
    [
      400,
      { error: { message: 'The input token count (12) exceeds the maximum (10).' } },
      'context_window_exceeded',
      false,
    ],
    [400, { error: { message: 'the request exceeds the available context size' } }, 'context_window_exceeded', false],
    [408, 'timeout', 'connection_failed', true],
    [409, { message: 'conflict' }, 'other', true],
    [422, { detail: [{ loc: ['body', 'x'], msg: 'bad field' }] }, 'bad_request', false],
    [425, 'early', 'connection_failed', true],
    [429, { error: { message: 'slow down' } }, 'rate_limited', true],
    [429, { error: { message: 'x', code: 'insufficient_quota' } }, 'usage_limit_exceeded', false],
    [429, { error: { message: 'Insufficient balance', code: '1113' } }, 'usage_limit_exceeded', false],
    [500, { error: { message: 'oops' } }, 'internal_server_error', true],
    [503, { error: { message: 'busy' } }, 'server_overloaded', true],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'server_overloaded', true],
  ])('status %i %j is %s, retryable: %s', async (status, body, kind, retryable) => {
    server.reply({ status, body });
    const found = error(await send());
    expect(found).toMatchObject({ kind, retryable, http_status: status });
    expect(found.message).toContain(`${status} `);
    expect(found.message).toContain(`${settings.base_url.replace('/v1', '')}${wire.path}`);
    expect(server.requests.length).toBe(1);
  });

  test('server faults and resets are tried again up to request_max_retries, each told', async () => {
    server.reply({ status: 500 }, 'reset', { stream: wire.stream([{ say: 'hello' }]) });
    const result = await ask({ ...settings, request_max_retries: 2 });
    expect(result.events.slice(0, 3)).toEqual([
      {
        type: 'retry',
        attempt: 1,
        max: 2,
        error: expect.objectContaining({ http_status: 500 }),
        delay_ms: expect.any(Number),
      },
      {
        type: 'retry',
        attempt: 2,
        max: 2,
        error: expect.objectContaining({ kind: 'connection_failed' }),
        delay_ms: expect.any(Number),
      },
      { type: 'started' },
    ]);
    expect(result.text).toBe('hello');

    server.reply({ status: 503 });
    const before = server.requests.length;
    const failed = error(await ask({ ...settings, request_max_retries: 1 }));
    expect(server.requests.length - before).toBe(2);
    expect(failed).toMatchObject({ kind: 'server_overloaded', retryable: true });
    expect(failed.message).toContain('after 2 attempts');
  });

  test.each([
    ['in milliseconds', { 'retry-after-ms': '40' }, {}, 40],
    ['in seconds', { 'retry-after': '0.05' }, {}, 50],
    ['in words', {}, { error: { message: 'Limit reached. Please try again in 30ms.' } }, 30],
    ['in a detail', {}, { error: { message: 'quota', details: [{ '@type': 'RetryInfo', retryDelay: '0.02s' }] } }, 20],
  ])('a wait asked for %s is kept', async (_how, headers, body, delay_ms) => {
    server.reply({ status: 429, headers, body }, { stream: wire.stream([{ say: 'hello' }]) });
    const result = await ask({ ...settings, request_max_retries: 1 });
    expect(result.events[0]).toMatchObject({ type: 'retry', delay_ms });
    expect(result.text).toBe('hello');
  });

  test('a wait that no turn can take makes the error final and says how long it is', async () => {
    server.reply({ status: 429, headers: { 'retry-after': '7200' }, body: { error: { message: 'daily limit' } } });
    const found = error(await ask({ ...settings, request_max_retries: 3 }));
    expect(found).toMatchObject({ kind: 'rate_limited', retryable: false, retry_after_ms: 7_200_000 });
    expect(found.message).toContain('120 minutes');
    expect(server.requests.length).toBe(1);
  });

  test('a plan that is used up says when it is renewed', async () => {
    const body = { error: { type: 'usage_limit_reached', message: 'Limit reached', resets_in_seconds: 600 } };
    server.reply({ status: 429, body });
    expect(error(await send())).toMatchObject({
      kind: 'usage_limit_exceeded',
      retryable: false,
      message: expect.stringContaining('again in 10 minutes'),
    });
  });

  test('events under the type of JSON are read', async () => {
    server.reply({ stream: wire.stream([{ say: 'hello' }]), headers: { 'content-type': 'application/json' } });
    expect((await send()).text).toBe('hello');
  });

  test('an interrupt ends the wait before a retry', async () => {
    server.reply({ status: 429, headers: { 'retry-after': '60' } });
    const controller = new AbortController();
    const provider = createProvider({ ...settings, request_max_retries: 3 }, DEPS);
    const types: string[] = [];
    for await (const event of provider.stream(requestFor(settings), controller.signal)) {
      types.push(event.type);
      if (event.type === 'retry') controller.abort();
    }
    expect(types).toEqual(['retry', 'failed']);
  });

  test('a refused connection is bounded and names the URL', async () => {
    const refused = { ...settings, base_url: 'http://127.0.0.1:9/v1', request_max_retries: 1 };
    const result = await ask(refused);
    expect(result.events.map(event => event.type)).toEqual(['retry', 'failed']);
    expect(error(result)).toMatchObject({ kind: 'connection_failed', retryable: true });
    expect(error(result).message).toContain(`http://127.0.0.1:9${wire.path}`);
  });

  test.each(['cut', 'reset', 'stalled', 'malformed'])(
    'a stream that is %s is an error that may be tried again',
    async how => {
      const stream = wire.stream([{ say: 'half' }], 'none');
      if (how === 'malformed') stream.push('data: {"type":"x",{{{\n\n');
      server.reply({ stream, ending: how === 'reset' ? 'reset' : how === 'stalled' ? 'open' : 'end' });
      const result = await ask({ ...settings, stream_idle_timeout_ms: 150 });
      expect(result.text).toBe('half');
      expect(error(result)).toMatchObject({ kind: 'stream_disconnected', retryable: true });
      expect(error(result).message).toContain(wire.path);
    },
  );

  test('a server that never answers is given up after the idle timeout', async () => {
    server.reply('silence');
    const found = error(await ask({ ...settings, stream_idle_timeout_ms: 100 }));
    expect(found).toMatchObject({ kind: 'connection_failed', retryable: true });
    expect(found.message).toContain('100 ms');
  });

  test('comments count as activity and every dialect of server-sent events is read', async () => {
    const whole = wire.stream([{ say: 'hello' }]).join('');
    const dialect = `\uFEFF: hi\r\n\r\n: ping\n\n${whole.replaceAll('data: ', 'id: 7\ndata:').replaceAll('\n', '\r\n')}`;
    // No blank line behind the last event.
    server.reply({ stream: [dialect.trimEnd()] });
    expect((await send()).text).toBe('hello');
  });

  test.each([
    [
      'rate_limit_exceeded',
      'Please try again in 1.5s',
      { kind: 'rate_limited', retryable: true, retry_after_ms: 1500 },
    ],
    ['context_length_exceeded', 'too long', { kind: 'context_window_exceeded', retryable: false }],
    ['insufficient_quota', 'pay', { kind: 'usage_limit_exceeded', retryable: false }],
    ['invalid_prompt', 'bad', { kind: 'bad_request', retryable: false }],
    ['overloaded_error', 'busy', { kind: 'server_overloaded', retryable: true }],
    ['server_error', 'boom-83', { kind: 'internal_server_error', retryable: true }],
  ])('an error inside a stream (%s) is passed on', async (code, message, expected) => {
    answer(...wire.stream([{ say: 'some ' }], 'none'), wire.error(message, code));
    const found = error(await send());
    expect(found).toMatchObject(expected);
    expect(found.message).toContain(message);
  });

  test('a call that the output limit cut is not delivered; whole ones before it are', async () => {
    const steps = [
      { call: 'exec_command', id: 'c1', args: '{"cmd":"ls"}' },
      { call: 'exec_command', id: 'c2', args: '{"cmd":"rm -r' },
    ];
    answer(...wire.stream(steps, 'limit'));
    const result = await send({ tools: TOOLS });
    expect(plain(result.items)).toEqual([call('c1', '{"cmd":"ls"}')]);
    expect(result.last).toMatchObject({ type: 'completed', truncated: true });
  });

  test('a call with broken JSON in a whole answer is delivered, and goes back in a valid form', async () => {
    answer(...wire.stream([{ call: 'exec_command', id: 'c1', args: '{"cmd": "ec' }]));
    const first = await send({ tools: TOOLS });
    expect(plain(first.items)).toEqual([call('c1', '{"cmd": "ec')]);
    expect(first.last).toMatchObject({ type: 'completed', truncated: false });
    answer(...wire.stream([{ say: 'done' }]));
    await send({ tools: TOOLS, input: [user('hello'), ...first.items, output('c1', 'no JSON')] });
    expect(wire.fault(last())).toBe(null);
  });

  const HISTORIES: readonly (readonly [string, readonly HistoryItem[]])[] = [
    [
      'a resumed thread',
      [
        developer('DEV-1'),
        user('ENV-1'),
        user('q1'),
        assistant('thinking aloud', { phase: 'commentary' }),
        call('c1', '{"cmd":"ls"}'),
        call('c2', '{"cmd":"pwd"}'),
        output('c1', 'out-1'),
        output('c2', ''),
        assistant('a1'),
        developer('DEV-2'),
        user('q2'),
      ],
    ],
    ['an interrupted turn', [user('q1'), call('c1', '{"cmd":"ls"}'), user('<turn_aborted>'), user('q2')]],
    [
      'results behind a user message',
      [user('q1'), call('c1', '{}'), call('c2', '{}'), user('steered'), output('c2', 'two'), output('c1', 'one')],
    ],
    ['a compacted thread', [developer('DEV-1'), user('ENV-1'), user('q1'), user('Here is the summary')]],
    ['an answer that was cut behind a text', [user('q1'), assistant('half')]],
    ['nothing but results', [output('gone', 'x')]],
    ['blank messages', [user('  '), user('q1'), assistant(''), user('q2')]],
    ['the same call id twice', [user('q'), call('c', '{}'), output('c', '1'), call('c', '{}'), output('c', '2')]],
    [
      'another wire',
      [
        user('q1'),
        {
          type: 'reasoning',
          id: 'rs_x',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'alien' }],
          replay: { wire: 'chat', model: 'kimi-k3', data: { field: 'reasoning_content' } },
        },
        { ...call('functions.exec:0', '{}'), id: 'weird id' } as HistoryItem,
        output('functions.exec:0', 'x'),
      ],
    ],
  ];

  test.each(HISTORIES)('%s has a valid order', async (_name, input) => {
    answer(...wire.stream([{ say: 'ok' }]));
    await send({ input, tools: TOOLS });
    // Results without a call go out unchanged where items do.
    const orphan = wire.wire === 'responses' && input.some(item => 'call_id' in item && item.call_id === 'gone');
    expect(wire.fault(last())).toBe(orphan ? 'no call for gone' : null);
    expect(JSON.stringify(last())).not.toContain('"replay"');
  });

  test('the connection is used again for the next request', async () => {
    answer(...wire.stream([{ say: 'hello' }]));
    const provider = createProvider(settings, { ...DEPS, connections: createConnections({}) });
    for (let i = 0; i < 3; i++) await collect(provider.stream(requestFor(settings), new AbortController().signal));
    expect(server.requests.length).toBe(3);
    expect(server.connections()).toBe(1);
  });

  test('a web page instead of an API is named as such', async () => {
    server.reply({ stream: ['<html>Welcome</html>'], headers: { 'content-type': 'text/html' } });
    expect(error(await send())).toMatchObject({ kind: 'configuration', retryable: false });
  });

  test('a redirect is not followed', async () => {
    server.reply({ status: 307, headers: { location: 'http://elsewhere.test/v1/x?secret=1' } });
    const found = error(await send());
    expect(found).toMatchObject({ kind: 'configuration', retryable: false });
    expect(found.message).toContain('http://elsewhere.test/v1/x;');
    expect(server.requests.length).toBe(1);
  });
});
