/** Chat Completions as real servers speak it: pieces of calls, odd fields, printed calls, usage. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryItem, ModelRequest, ProviderSettings } from '../../src/protocol/index.js';
import { type ModelServer, sse, startModelServer } from '../support/model-server.js';
import { ask, call, output, plain, settingsFor, TOOLS, user } from './support.js';

let server: ModelServer;
let settings: ProviderSettings;

beforeEach(async () => {
  server = await startModelServer();
  settings = settingsFor({ base_url: server.url, wire_api: 'chat' });
});
afterEach(() => server.close());

const chunk = (delta: object, finish: string | null = null, extra: object = {}) =>
  sse({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }], ...extra });
const calls = (...entries: object[]) => chunk({ tool_calls: entries });
const DONE = sse('[DONE]');

const send = async (stream: string[], changes: Partial<ModelRequest> = {}) => {
  server.reply({ stream });
  return await ask(settings, { tools: TOOLS, ...changes });
};
const last = () => server.requests.at(-1)?.body ?? {};

const LS = '{"cmd":"ls"}';
const PWD = '{"cmd":"pwd"}';
const fn = (args: unknown, name?: string) => ({ ...(name === undefined ? {} : { name }), arguments: args });
const exec = (args: unknown) => fn(args, 'exec_command');

describe('calls in pieces', () => {
  const TWO = [call('a', LS), call('b', PWD)];
  test.each([
    [
      'index and id',
      [calls({ index: 0, id: 'a', function: exec(LS) }), calls({ index: 1, id: 'b', function: exec(PWD) })],
    ],
    [
      'one index for both',
      [calls({ index: 0, id: 'a', function: exec(LS) }), calls({ index: 0, id: 'b', function: exec(PWD) })],
    ],
    [
      'one index for both, cut',
      [
        calls({ index: 0, id: 'a', function: exec('{"cmd":') }),
        calls({ index: 0, function: fn('"ls"}') }),
        calls({ index: 0, id: 'b', function: exec('{"cmd":') }),
        calls({ index: 0, function: fn('"pwd"}') }),
      ],
    ],
    ['no index, one chunk', [calls({ id: 'a', function: exec(LS) }, { id: 'b', function: exec(PWD) })]],
    [
      'no index, cut',
      [
        calls({ id: 'a', function: exec('{"cmd":') }),
        calls({ function: fn('"ls"}') }),
        calls({ id: 'b', function: exec('{"cmd":') }),
        calls({ function: fn('"pwd"}') }),
      ],
    ],
    [
      'the id on every piece',
      [
        calls({ index: 0, id: 'a', function: exec('{"cmd":') }),
        calls({ index: 0, id: 'a', function: exec('"ls"}') }),
        calls({ index: 1, id: 'b', function: exec('{"cmd":') }),
        calls({ index: 1, id: 'b', function: exec('"pwd"}') }),
      ],
    ],
    [
      'interleaved',
      [
        calls({ index: 0, id: 'a', function: exec('') }, { index: 1, id: 'b', function: exec('') }),
        calls({ index: 1, function: fn('{"cmd":') }, { index: 0, function: fn('{"cmd":') }),
        calls({ index: 0, function: fn('"ls"}') }),
        calls({ index: 1, function: fn('"pwd"}') }),
      ],
    ],
    [
      'the id late, null before',
      [
        calls({ index: 0, id: null, function: exec('{"cmd":') }),
        calls({ index: 0, id: 'a', function: fn('"ls"}') }),
        calls({ index: 1, id: '', function: exec('') }),
        calls({ index: 1, id: 'b', function: fn(PWD) }),
      ],
    ],
    [
      'the name in pieces',
      [
        calls({ index: 0, id: 'a', function: fn('', 'exec') }),
        calls({ index: 0, function: fn('', '_comm') }),
        calls({ index: 0, function: fn(LS, 'and') }),
        calls({ index: 1, id: 'b', function: fn('', 'exec_') }, { index: 1, id: 'b', function: fn(PWD, 'command') }),
      ],
    ],
    [
      'an object instead of a list',
      [
        chunk({ tool_calls: { index: 0, id: 'a', function: exec(LS) } }),
        chunk({ tool_calls: { index: 1, id: 'b', function: exec(PWD) } }),
      ],
    ],
  ])('%s', async (_name, pieces) => {
    const result = await send([...pieces, chunk({}, 'tool_calls'), DONE]);
    expect(plain(result.items)).toEqual(TWO);
  });

  test('a new id on every piece of one call', async () => {
    const pieces = [
      calls({ index: 0, id: 'a', function: exec('{"cmd":') }),
      calls({ index: 0, id: 'x', function: fn('"ls"}') }),
    ];
    const result = await send([...pieces, chunk({}, 'tool_calls'), DONE]);
    expect(plain(result.items)).toEqual([call('a', LS)]);
  });

  test('calls without ids get ids of their own', async () => {
    const result = await send([calls({ function: exec(LS) }, { function: exec(PWD) }), chunk({}, 'stop'), DONE]);
    const ids = result.items.map(item => (item.type === 'function_call' ? item.call_id : ''));
    expect(new Set(ids).size).toBe(2);
    expect(ids.every(id => /^call_\w+$/.test(id))).toBe(true);
    expect(result.items.map(item => (item.type === 'function_call' ? item.arguments : ''))).toEqual([LS, PWD]);
  });

  test('an id that the history or the answer has already is made another', async () => {
    const pieces = calls(
      { index: 0, id: 'call_0', function: exec(LS) },
      { index: 1, id: 'call_0', function: exec(PWD) },
    );
    const input = [user('q'), call('call_0', LS), output('call_0', 'x'), user('again')];
    const result = await send([pieces, chunk({}, 'tool_calls'), DONE], { input });
    expect(plain(result.items)).toEqual([call('call_0_2', LS), call('call_0_3', PWD)]);
  });

  test('a call without a name is an error of the stream', async () => {
    const result = await send([calls({ index: 0, id: 'a', function: fn(LS) }), chunk({}, 'tool_calls'), DONE]);
    expect(result.last).toMatchObject({ type: 'failed', error: { kind: 'stream_disconnected', retryable: true } });
  });
});

describe('arguments', () => {
  test.each([
    ['an object', { cmd: 'ls' }, LS],
    ['JSON in JSON', JSON.stringify(LS), LS],
    ['as written', '{ "cmd" : "ls" }', '{ "cmd" : "ls" }'],
    [
      'a list as a text where a list is wanted',
      '{"cmd":"ls","prefix_rule":"[\\"ls\\"]"}',
      '{"cmd":"ls","prefix_rule":["ls"]}',
    ],
    [
      'numbers and booleans as texts where they are wanted',
      '{"cmd":"ls","yield_time_ms":"250","tty":"true"}',
      '{"cmd":"ls","yield_time_ms":250,"tty":true}',
    ],
    ['JSON that is a text where a text is wanted', '{"cmd":"[1]"}', '{"cmd":"[1]"}'],
    [
      'a text that is no number where a number is wanted',
      '{"cmd":"ls","yield_time_ms":"soon"}',
      '{"cmd":"ls","yield_time_ms":"soon"}',
    ],
    ['null for an optional value', '{"cmd":"ls","workdir":null}', LS],
  ])('%s', async (_name, args, expected) => {
    const result = await send([calls({ index: 0, id: 'a', function: exec(args) }), chunk({}, 'tool_calls'), DONE]);
    expect(plain(result.items)).toEqual([call('a', expected)]);
  });

  test.each([[''], [null], ['{}'], [' '], [undefined]])('%j for a tool without parameters', async args => {
    const result = await send([
      calls({ index: 0, id: 'a', function: fn(args, 'noargs') }),
      chunk({}, 'tool_calls'),
      DONE,
    ]);
    expect(plain(result.items)).toEqual([call('a', '{}', 'noargs')]);
  });

  test('a freeform call keeps its text, whatever the field is called', async () => {
    const text = '*** Begin Patch\n{"x": 1}\n*** End Patch';
    for (const args of [JSON.stringify({ input: text }), JSON.stringify({ patch: text }), text]) {
      const result = await send([
        calls({ index: 0, id: 'a', function: fn(args, 'apply_patch') }),
        chunk({}, 'tool_calls'),
        DONE,
      ]);
      expect(plain(result.items)).toEqual([
        { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: text },
      ]);
    }
  });
});

describe('the end of an answer', () => {
  test.each(['stop', 'tool_calls', 'function_call', 'eos'])('finish reason %s with calls', async reason => {
    const result = await send([calls({ index: 0, id: 'a', function: exec(LS) }), chunk({}, reason), DONE]);
    expect(plain(result.items)).toEqual([call('a', LS)]);
  });

  test('empty finish reasons are none', async () => {
    const result = await send([chunk({ content: 'hel' }, ''), chunk({ content: 'lo' }, ''), chunk({}, 'stop'), DONE]);
    expect(result.text).toBe('hello');
    expect(result.last.type).toBe('completed');
  });

  test('an end mark without a finish reason is an end, a bare end is not', async () => {
    expect((await send([chunk({ content: 'hello' }), DONE])).last.type).toBe('completed');
    expect((await send([chunk({ content: 'hello' }), chunk({}, 'stop')])).last.type).toBe('completed');
    expect((await send([chunk({ content: 'hello' })])).last).toMatchObject({ error: { kind: 'stream_disconnected' } });
  });

  test('a byte order mark before the first piece takes nothing of it away', async () => {
    const result = await send([`\uFEFF${chunk({ content: 'first' })}`, chunk({ content: ', second' }, 'stop'), DONE]);
    expect(result.text).toBe('first, second');
  });

  test('an end mark inside a call is a broken stream', async () => {
    const result = await send([calls({ index: 0, id: 'a', function: exec('{"cmd":"l') }), DONE]);
    expect(result.items).toEqual([]);
    expect(result.last).toMatchObject({ error: { kind: 'stream_disconnected', retryable: true } });
  });

  test('a limit before the first argument loses the call', async () => {
    const result = await send([calls({ index: 0, id: 'a', function: exec('') }), chunk({}, 'length'), DONE]);
    expect(result.items).toEqual([]);
    expect(result.last).toMatchObject({ type: 'completed', truncated: true });
  });

  test.each([
    ['content_filter', { kind: 'other', retryable: false }],
    ['error', { kind: 'stream_disconnected', retryable: true }],
    ['insufficient_system_resource', { kind: 'stream_disconnected', retryable: true }],
    ['model_context_window_exceeded', { kind: 'context_window_exceeded', retryable: false }],
  ])('finish reason %s is an error', async (reason, error) => {
    expect((await send([chunk({ content: 'some' }, reason), DONE])).last).toMatchObject({ type: 'failed', error });
  });

  test('a stream that stays open behind its finish reason is ended', async () => {
    server.reply({ stream: [chunk({ content: 'hello' }), chunk({}, 'stop')], ending: 'open' });
    const result = await ask({ ...settings, stream_idle_timeout_ms: 100 });
    expect(result.last.type).toBe('completed');
  });

  test('a server that does not stream is understood', async () => {
    const message = {
      role: 'assistant',
      content: 'hi',
      tool_calls: [{ id: 'a', type: 'function', function: exec(LS) }],
    };
    const body = { object: 'chat.completion', id: 'x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    server.reply({ status: 200, body });
    const result = await ask(settings, { tools: TOOLS });
    expect(result.text).toBe('hi');
    expect(plain(result.items)).toMatchObject([{ type: 'message' }, call('a', LS)]);
  });
});

describe('errors in the stream', () => {
  test.each([
    [{ error: { message: 'boom', code: 502 } }, 'internal_server_error'],
    [{ error: 'boom' }, 'stream_disconnected'],
    [{ object: 'error', message: 'boom', code: 400 }, 'bad_request'],
    [{ code: 'InvalidParameter', message: 'boom' }, 'stream_disconnected'],
    [[{ error: { code: 429, message: 'boom', status: 'RESOURCE_EXHAUSTED' } }], 'rate_limited'],
    [
      {
        choices: [
          {
            index: 0,
            delta: { content: '' },
            finish_reason: 'error',
            error: { message: 'boom', code: 'server_error' },
          },
        ],
      },
      'internal_server_error',
    ],
  ])('%j', async (data, kind) => {
    const result = await send([
      chunk({ content: 'some ' }),
      calls({ index: 0, id: 'a', function: exec('{"c') }),
      sse(data),
    ]);
    expect(result.items).toEqual([]);
    expect(result.last).toMatchObject({ type: 'failed', error: { kind, message: expect.stringContaining('boom') } });
  });
});

describe('reasoning', () => {
  const step = (field: string) => [
    chunk({ [field]: 'hm ' }),
    chunk({ [field]: 'mm' }),
    calls({ index: 0, id: 'a', function: exec(LS) }),
    chunk({}, 'tool_calls'),
    DONE,
  ];

  test.each(['reasoning_content', 'reasoning'])(
    '%s goes back in the field it came in, on the message of its calls',
    async field => {
      const first = await send(step(field));
      expect(first.text).toBe('');
      expect(first.items[0]).toMatchObject({ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm mm' }] });
      await send([chunk({ content: 'x' }, 'stop'), DONE], {
        input: [user('q'), ...first.items, output('a', 'o'), user('r')],
      });
      expect(last().messages[2]).toMatchObject({ role: 'assistant', [field]: 'hm mm', tool_calls: [{ id: 'a' }] });
    },
  );

  test('none is made up for a server that sent none', async () => {
    await send([chunk({ content: 'x' }, 'stop'), DONE], { input: [user('q'), call('a', LS), output('a', 'o')] });
    expect(Object.keys(last().messages[2])).toEqual(['role', 'content', 'tool_calls']);
  });

  test('details that came in pieces go back whole', async () => {
    const details = [
      { type: 'reasoning.text', index: 0, text: 'one ', format: 'f' },
      { type: 'reasoning.text', index: 0, text: 'two' },
      { type: 'reasoning.text', index: 0, signature: 'sig' },
      { type: 'reasoning.encrypted', index: 1, data: 'abc' },
    ];
    const stream = details.map(detail =>
      chunk({ reasoning: 'text' in detail ? detail.text : '', reasoning_details: [detail] }),
    );
    const first = await send([...stream, chunk({ content: 'hi' }, 'stop'), DONE]);
    await send([chunk({ content: 'x' }, 'stop'), DONE], { input: [user('q'), ...first.items, user('r')] });
    expect(last().messages[2]).toEqual({
      role: 'assistant',
      content: 'hi',
      reasoning: 'one two',
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'one two', format: 'f', signature: 'sig' },
        { type: 'reasoning.encrypted', index: 1, data: 'abc' },
      ],
    });
  });

  test('what a model prints in think tags is no answer and does not go back', async () => {
    const first = await send([
      chunk({ content: '<thi' }),
      chunk({ content: 'nk>hm</th' }),
      chunk({ content: 'ink>\n\nhello' }, 'stop'),
      DONE,
    ]);
    expect(first.text).toBe('hello');
    expect(plain(first.items)).toMatchObject([{ content: [{ text: 'hm' }] }, { content: [{ text: 'hello' }] }]);
    await send([chunk({ content: 'x' }, 'stop'), DONE], { input: [user('q'), ...first.items, user('r')] });
    expect(last().messages[2]).toEqual({ role: 'assistant', content: 'hello' });
  });

  test('content in parts is read, thinking parts go back as parts', async () => {
    const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }];
    const first = await send([
      chunk({ content: thinking }),
      chunk({ content: [{ type: 'text', text: 'hello' }] }, 'stop'),
      DONE,
    ]);
    expect(first.text).toBe('hello');
    await send([chunk({ content: 'x' }, 'stop'), DONE], { input: [user('q'), ...first.items, user('r')] });
    expect(last().messages[2]).toEqual({ role: 'assistant', content: [...thinking, { type: 'text', text: 'hello' }] });
  });

  test('fields of a call that only the server understands go back with it', async () => {
    const extra_content = { google: { thought_signature: 'sig' } };
    const first = await send([
      calls({ index: 0, id: 'a', function: exec(LS), extra_content }),
      chunk({}, 'tool_calls'),
      DONE,
    ]);
    await send([chunk({ content: 'x' }, 'stop'), DONE], { input: [user('q'), ...first.items, output('a', 'o')] });
    expect(last().messages[2].tool_calls[0]).toMatchObject({ id: 'a', extra_content });
  });
});

describe('calls printed as text', () => {
  const printed = { name: 'exec_command', arguments: { cmd: 'ls' } };
  const json = JSON.stringify(printed);
  test.each([
    ['JSON', json],
    ['with parameters', JSON.stringify({ name: 'exec_command', parameters: { cmd: 'ls' } })],
    ['as a function', JSON.stringify({ type: 'function', function: { name: 'exec_command', arguments: LS } })],
    ['in a fence', `\`\`\`json\n${json}\n\`\`\``],
    ['tagged', `<tool_call>\n${json}\n</tool_call>\n`],
    [
      'in tags of its own',
      '<tool_call>\n<function=exec_command>\n<parameter=cmd>\nls\n</parameter>\n</function>\n</tool_call>',
    ],
  ])('%s is a call', async (_name, text) => {
    const result = await send([...text.split('').map(content => chunk({ content })), chunk({}, 'stop'), DONE]);
    expect(result.text).toBe('');
    expect(result.items.map(item => (item.type === 'function_call' ? [item.name, item.arguments] : item))).toEqual([
      ['exec_command', LS],
    ]);
  });

  test.each([
    ['prose around it', `You would send ${json} like so.`],
    ['prose behind it', `${json} Shall I?`],
    ['a tag in prose', `<tool_call>${json}</tool_call> like so`],
    ['two of them', `<tool_call>${json}</tool_call><tool_call>${json}</tool_call>`],
    ['an unknown tool', JSON.stringify({ name: 'rm_everything', arguments: {} })],
    ['more fields', JSON.stringify({ ...printed, note: 'x' })],
    ['other JSON', '{"answer": 42}'],
    ['a code block', '```ts\nconst x = 1;\n```'],
    ['no arguments', JSON.stringify({ name: 'exec_command' })],
  ])('%s is an answer', async (_name, text) => {
    const result = await send([...text.split('').map(content => chunk({ content })), chunk({}, 'stop'), DONE]);
    expect(result.text).toBe(text);
    expect(plain(result.items)).toMatchObject([{ type: 'message', content: [{ text }] }]);
  });

  test('a printed call that the limit cut is an answer', async () => {
    expect((await send([chunk({ content: json }, 'length'), DONE])).text).toBe(json);
  });

  test('an answer that was to be JSON is an answer', async () => {
    expect((await send([chunk({ content: json }, 'stop'), DONE], { output_schema: { type: 'object' } })).text).toBe(
      json,
    );
  });

  test('text that begins like neither is streamed at once', async () => {
    const result = await send([chunk({ content: '{"ans' }), chunk({ content: 'wer": 1}' }), chunk({}, 'stop'), DONE]);
    expect(result.events.filter(event => event.type === 'text.delta').length).toBe(2);
  });
});

describe('usage', () => {
  const counts = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
  test.each([
    ['behind the end', [chunk({ content: 'x' }, 'stop'), sse({ choices: [], usage: counts }), DONE], 0],
    [
      'null before the last',
      [chunk({ content: 'x' }, null, { usage: null }), chunk({}, 'stop', { usage: counts }), DONE],
      0,
    ],
    [
      'growing',
      [
        chunk({ content: 'x' }, null, { usage: { ...counts, prompt_tokens: 1 } }),
        chunk({}, 'stop', { usage: counts }),
        DONE,
      ],
      0,
    ],
    ['DeepSeek', [chunk({ content: 'x' }, 'stop', { usage: { ...counts, prompt_cache_hit_tokens: 7 } }), DONE], 7],
    ['Moonshot', [chunk({ content: 'x' }, 'stop', { usage: { ...counts, cached_tokens: 8 } }), DONE], 8],
    ['Groq', [chunk({ content: 'x' }, 'stop', { x_groq: { usage: counts } }), DONE], 0],
    [
      'inside the choice',
      [sse({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop', usage: counts }] }), DONE],
      0,
    ],
  ])('%s', async (_name, stream, cached_input_tokens) => {
    const result = await send(stream);
    expect(result.last).toMatchObject({
      usage: { input_tokens: 50, output_tokens: 5, total_tokens: 55, cached_input_tokens },
    });
  });

  test('is null where the service tells none', async () => {
    expect((await send([chunk({ content: 'x' }, 'stop'), DONE])).last).toMatchObject({
      type: 'completed',
      usage: null,
    });
  });
});

describe('messages', () => {
  const ok = [chunk({ content: 'x' }, 'stop'), DONE];
  test('system texts stand first in one message, later ones become user messages', async () => {
    const dev = (text: string): HistoryItem => ({
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text }],
    });
    await send(ok, { input: [dev('D1'), dev('D2'), user('q'), dev('D3'), user('r')] });
    expect(last().messages).toEqual([
      { role: 'system', content: 'Be brief.\n\nD1\n\nD2' },
      { role: 'user', content: 'q' },
      { role: 'user', content: 'D3' },
      { role: 'user', content: 'r' },
    ]);
  });

  test('pictures in a result follow in a user message behind all results', async () => {
    const image = { type: 'input_image' as const, image_url: 'data:image/png;base64,AA==' };
    const seen: HistoryItem = {
      type: 'function_call_output',
      call_id: 'a',
      output: [{ type: 'input_text', text: 'seen' }, image],
    };
    await send(ok, { input: [user('q'), call('a', LS), call('b', PWD), seen, output('b', 'two')] });
    expect(last().messages.slice(3)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Images from the result of exec_command:' },
          { type: 'image_url', image_url: { url: image.image_url } },
        ],
      },
    ]);
  });

  test('flat names of namespaced calls and legal names of impossible ones', async () => {
    const spaced: HistoryItem = {
      type: 'function_call',
      call_id: 'a',
      name: 'read',
      namespace: 'mcp__files',
      arguments: '{}',
    };
    await send(ok, { input: [user('q'), spaced, output('a', 'x'), call('b', '{}', 'no such.tool'), output('b', 'y')] });
    const names = last().messages.flatMap(
      (message: { tool_calls?: { function: { name: string } }[] }) =>
        message.tool_calls?.map(entry => entry.function.name) ?? [],
    );
    expect(names).toEqual(['mcp__files__read', 'no_such_tool']);
  });
});
