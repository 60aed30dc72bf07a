/** What single services want, and what is learnt from their refusals. Their hosts are played by a server on loopback. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryItem, ModelRequest, ProviderSettings, ToolSpec } from '../../src/protocol/index.js';
import { type ModelServer, type Reply, sse, startModelServer } from '../support/model-server.js';
import { type Answer, ask, call, output, redirected, settingsFor, TOOLS, user } from './support.js';
import { WIRES } from './wires.js';

let server: ModelServer;

beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

const OK: Reply = {
  stream: [sse({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] }), sse('[DONE]')],
};
const last = () => server.requests.at(-1)?.body ?? {};

const send = async (
  host: string,
  modelId: string,
  changes: Partial<ModelRequest> = {},
  settings: Partial<ProviderSettings> = {},
): Promise<Answer> => {
  const base = settingsFor({ base_url: `http://${host}/v1`, wire_api: 'chat', ...settings });
  return await ask(base, { modelId, tools: TOOLS, ...changes }, { connections: redirected(server.url) });
};
const effort = (value: string) => ({ reasoning: { effort: value, summary: null } });
const HISTORY = [user('q'), call('functions.exec:0', '{"cmd":"ls"}'), output('functions.exec:0', 'x')];
const USAGE_WANTED = { stream_options: { include_usage: true } };

describe('fields of a request', () => {
  beforeEach(() => server.reply(OK));

  test.each([
    ['an unknown server', 'example.test', 'some-model', {}, { ...USAGE_WANTED }],
    [
      'an effort for an unknown server',
      'example.test',
      'some-model',
      effort('high'),
      { ...USAGE_WANTED, reasoning_effort: 'high' },
    ],
    [
      'no parallel calls',
      'example.test',
      'some-model',
      { parallel_tool_calls: false },
      { ...USAGE_WANTED, parallel_tool_calls: false },
    ],
    [
      'OpenAI',
      'api.openai.com',
      'gpt-5.2',
      { verbosity: 'low' as const, service_tier: 'flex' },
      {
        ...USAGE_WANTED,
        reasoning_effort: 'medium',
        prompt_cache_key: 'thread-1',
        store: false,
        verbosity: 'low',
        service_tier: 'flex',
      },
    ],
    [
      'Kimi K3',
      'api.moonshot.ai',
      'kimi-k3',
      effort('high'),
      { ...USAGE_WANTED, max_completion_tokens: 65_536, reasoning_effort: 'high', prompt_cache_key: 'thread-1' },
    ],
    [
      'Kimi K2.6 without thinking',
      'api.moonshot.cn',
      'kimi-k2.6',
      effort('none'),
      { ...USAGE_WANTED, max_completion_tokens: 32_768, thinking: { type: 'disabled' }, prompt_cache_key: 'thread-1' },
    ],
    ['GLM', 'api.z.ai', 'glm-5', {}, { max_tokens: 65_536, tool_stream: true }],
    [
      'GLM 5.2 with effort',
      'open.bigmodel.cn',
      'glm-5.2',
      effort('medium'),
      { max_tokens: 65_536, tool_stream: true, thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    [
      'DeepSeek',
      'api.deepseek.com',
      'deepseek-v4-pro',
      effort('xhigh'),
      { ...USAGE_WANTED, max_tokens: 65_536, thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    [
      'DeepSeek without thinking',
      'api.deepseek.com',
      'deepseek-v4-flash',
      effort('none'),
      { ...USAGE_WANTED, max_tokens: 65_536, thinking: { type: 'disabled' } },
    ],
    [
      'Qwen',
      'dashscope-intl.aliyuncs.com',
      'qwen3.7-plus',
      effort('low'),
      { ...USAGE_WANTED, enable_thinking: true, thinking_budget: 4096 },
    ],
    [
      'Qwen coder, which does not reason',
      'dashscope.aliyuncs.com',
      'qwen3-coder-plus',
      effort('low'),
      { ...USAGE_WANTED },
    ],
    [
      'Gemini',
      'generativelanguage.googleapis.com',
      'models/gemini-3.6-flash',
      effort('low'),
      { ...USAGE_WANTED, reasoning_effort: 'low' },
    ],
    ['Groq', 'api.groq.com', 'openai/gpt-oss-120b', effort('low'), { ...USAGE_WANTED, reasoning_effort: 'low' }],
    ['Mistral', 'api.mistral.ai', 'devstral-2512', {}, {}],
    [
      'OpenRouter',
      'openrouter.ai',
      'anthropic/claude-opus-4.8',
      effort('high'),
      { ...USAGE_WANTED, reasoning: { effort: 'high' } },
    ],
    [
      'MiniMax',
      'api.minimax.io',
      'MiniMax-M3',
      effort('none'),
      { ...USAGE_WANTED, reasoning_split: true, thinking: { type: 'disabled' } },
    ],
  ])('%s', async (_name, host, model, changes, expected) => {
    await send(host, model, changes);
    const { model: sent, messages: _messages, tools: _tools, ...fields } = last();
    expect(sent).toBe(model);
    expect(fields).toEqual({ stream: true, tool_choice: 'auto', ...expected });
  });

  test('no tools, no word about tools', async () => {
    await send('example.test', 'some-model', { tools: [] });
    expect(Object.keys(last())).toEqual(['model', 'messages', 'stream', 'stream_options']);
  });

  test('a schema goes into words where it can not be enforced beside tools', async () => {
    const output_schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    for (const [host, enforced] of [
      ['api.openai.com', true],
      ['example.test', false],
      ['api.z.ai', false],
    ] as const) {
      await send(host, 'some-model', { output_schema });
      expect('response_format' in last()).toBe(enforced);
      expect(last().messages[0].content.includes('"ok"')).toBe(!enforced);
    }
  });
});

describe('history', () => {
  beforeEach(() => server.reply(OK));

  test('calls without reasoning carry an empty one where it is demanded', async () => {
    for (const [host, model, field] of [
      ['api.deepseek.com', 'deepseek-v4-pro', true],
      ['api.moonshot.ai', 'kimi-k3', true],
      ['api.z.ai', 'glm-5', false],
    ] as const) {
      await send(host, model, { input: HISTORY });
      expect('reasoning_content' in last().messages[2]).toBe(field);
    }
  });

  test('reasoning goes to no other family, and to no service that never wants it', async () => {
    const thought: HistoryItem = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'hm' }],
      replay: { wire: 'chat', model: 'openai/gpt-oss-120b', data: { field: 'reasoning' } },
    };
    const input = [user('q'), thought, ...HISTORY.slice(1)];
    for (const [host, model, field] of [
      ['example.test', 'gpt-oss-20b', true],
      ['example.test', 'qwen3-max', false],
      ['api.groq.com', 'openai/gpt-oss-120b', false],
    ] as const) {
      await send(host, model, { input });
      expect('reasoning' in last().messages[2]).toBe(field);
    }
  });

  test('Mistral gets ids of nine letters, the same for call and result, and an answer before a user message', async () => {
    await send('api.mistral.ai', 'devstral-2512', { input: [...HISTORY, user('go on')] });
    const [, , step, result, answer, next] = last().messages;
    expect(step.tool_calls[0].id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(result.tool_call_id).toBe(step.tool_calls[0].id);
    expect(answer.role).toBe('assistant');
    expect(next).toEqual({ role: 'user', content: 'go on' });
  });

  test('Gemini gets a stand-in for the signature of the first call of a step, and only there', async () => {
    const input = [user('q'), call('a', '{}'), call('b', '{}'), output('a', '1'), output('b', '2')];
    await send('generativelanguage.googleapis.com', 'gemini-3.6-flash', { input });
    expect(last().messages[2].tool_calls.map((entry: object) => 'extra_content' in entry)).toEqual([true, false]);
    await send('generativelanguage.googleapis.com', 'gemini-2.5-pro', { input });
    expect(JSON.stringify(last())).not.toContain('extra_content');
  });
});

describe('schemas of tools', () => {
  beforeEach(() => server.reply(OK));
  const tool: ToolSpec = {
    type: 'function',
    name: 't',
    description: 'd',
    parameters: {
      type: 'object',
      properties: {
        a: { $ref: '#/definitions/A', description: 'an a' },
        b: { oneOf: [{ type: 'string' }, { type: 'null' }] },
        c: { enum: [1, 2] },
        d: { type: ['string', 'null'], pattern: 'x' },
        e: { const: 'x' },
        f: { type: 'array', items: { enum: ['x'] } },
      },
      additionalProperties: false,
      definitions: { A: { type: 'object', properties: { x: {} }, patternProperties: { y: {} } } },
    },
  };

  test('Gemini: no references, choices or numbers in enums', async () => {
    await send('generativelanguage.googleapis.com', 'gemini-3.6-flash', { tools: [tool] });
    expect(last().tools[0].function.parameters).toEqual({
      type: 'object',
      properties: {
        a: { type: 'object', description: 'an a', properties: { x: {} } },
        b: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        c: {},
        d: { type: 'string', nullable: true, pattern: 'x' },
        e: { enum: ['x'] },
        f: { type: 'array', items: { enum: ['x'] } },
      },
    });
  });

  test('Moonshot: every property has a type, nothing stands beside a reference', async () => {
    await send('api.moonshot.ai', 'kimi-k3', { tools: [tool] });
    expect(last().tools[0].function.parameters).toEqual({
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/A' },
        b: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        c: { enum: [1, 2], type: 'number' },
        d: { type: ['string', 'null'], pattern: 'x' },
        e: { const: 'x', type: 'string' },
        f: { type: 'array', items: { enum: ['x'], type: 'string' } },
      },
      additionalProperties: false,
      $defs: { A: { type: 'object', properties: { x: { type: 'string' } }, patternProperties: { y: {} } } },
    });
  });

  test('a root that is a choice becomes one object where it is refused', async () => {
    const choice: ToolSpec = {
      ...tool,
      parameters: {
        type: 'object',
        anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }],
      },
    };
    const merged = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };
    await send('api.moonshot.ai', 'kimi-k3', { tools: [choice] });
    expect(last().tools[0].function.parameters).toEqual(merged);
    server.reply({ stream: WIRES[2]?.stream([{ say: 'ok' }]) ?? [] });
    await send('api.anthropic.com', 'claude-opus-5', { tools: [choice] }, { wire_api: 'messages' });
    expect(last().tools[0].input_schema).toEqual(merged);
  });
});

describe('what is learnt from a refusal', () => {
  const refuse = (message: string, status = 400): Reply => ({ status, body: { error: { message } } });

  test.each([
    ['Unrecognized request argument supplied: stream_options', 'stream_options', {}],
    ["Extra inputs are not permitted: 'parallel_tool_calls'", 'parallel_tool_calls', { parallel_tool_calls: false }],
  ])('%s', async (message, field, changes) => {
    server.reply(refuse(message), OK);
    expect((await send('example.test', 'some-model', changes)).text).toBe('ok');
    expect(server.requests.map(({ body }) => field in body)).toEqual([true, false]);
  });

  test('a field that matters is not left out', async () => {
    server.reply(refuse('Unsupported parameter: reasoning_effort'), OK);
    const result = await send('example.test', 'some-model', effort('high'));
    expect(result.last).toMatchObject({ type: 'failed', error: { kind: 'bad_request' } });
    expect(server.requests.length).toBe(1);
  });

  test('the same refusal again is final', async () => {
    server.reply(refuse('unknown field stream_options'));
    expect((await send('example.test', 'some-model')).last.type).toBe('failed');
    expect(server.requests.length).toBe(2);
  });

  test('the other name of the output limit', async () => {
    server.reply(refuse("Unsupported parameter: 'max_completion_tokens'"), OK);
    await send('api.moonshot.ai', 'kimi-k3');
    expect(server.requests.map(({ body }) => [body['max_completion_tokens'], body['max_tokens']])).toEqual([
      [65_536, undefined],
      [undefined, 65_536],
    ]);
  });

  test('reasoning that is missing, reasoning that is too much', async () => {
    server.reply(refuse('reasoning_content is missing in assistant tool call message'), OK);
    await send('example.test', 'kimi-k3', { input: HISTORY });
    expect(last().messages[2].reasoning_content).toBe('');
    const thought: HistoryItem = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'hm' }],
      replay: { wire: 'chat', model: 'kimi-k3', data: { field: 'reasoning_content' } },
    };
    server.reply(refuse('unknown field reasoning_content'), OK);
    await send('example.test', 'kimi-k3', { input: [user('q'), thought, ...HISTORY.slice(1)] });
    expect('reasoning_content' in last().messages[2]).toBe(false);
  });

  test('ids of nine characters, and no prompt right behind a result', async () => {
    server.reply(refuse('Tool call id was functions.exec:0 but must be a-z, A-Z, 0-9, with a length of 9.'), OK);
    await send('example.test', 'devstral-2512', { input: HISTORY });
    const [, , { tool_calls }, { tool_call_id }] = last().messages;
    expect(tool_call_id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(tool_calls[0].id).toBe(tool_call_id);
    server.reply(refuse("Unexpected role 'user' after role 'tool'"), OK);
    await send('example.test', 'devstral-2512', { input: [...HISTORY, user('next')] });
    expect(
      last()
        .messages.map(({ role }: { role: string }) => role)
        .join(),
    ).toMatch(/tool,assistant,user$/);
  });

  test('what a balance affords', async () => {
    const poor = {
      status: 402,
      body: { error: { message: 'You requested up to 65536 tokens, but can only afford 900.', code: 402 } },
    };
    server.reply(poor, OK);
    expect((await send('openrouter.ai', 'x-ai/grok-4.5')).text).toBe('ok');
    expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([undefined, 900]);
    server.reply(poor);
    const before = server.requests.length;
    expect((await send('openrouter.ai', 'x-ai/grok-4.5')).last).toMatchObject({
      error: { kind: 'usage_limit_exceeded' },
    });
    expect(server.requests.length - before).toBe(2);
  });

  test('a call that Groq could not parse is asked for once more', async () => {
    server.reply({
      status: 400,
      body: { error: { message: 'Failed to call a function', code: 'tool_use_failed', failed_generation: 'x' } },
    });
    expect((await send('api.groq.com', 'openai/gpt-oss-120b')).last.type).toBe('failed');
    expect(server.requests.length).toBe(2);
  });

  test('a schema that is refused is told in words', async () => {
    server.reply(refuse('response_format json_schema is not available'), OK);
    await send('example.test', 'some-model', { tools: [], output_schema: { type: 'object', title: 'T-1' } });
    expect('response_format' in last()).toBe(false);
    expect(last().messages[0].content).toContain('T-1');
  });
});
