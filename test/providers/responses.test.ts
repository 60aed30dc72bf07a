/** The Responses API: what goes out of the history, what servers leave out or add. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HistoryItem, ModelRequest, ProviderSettings } from '../../src/protocol/index.js';
import { type ModelServer, sse, startModelServer } from '../support/model-server.js';
import { ask, assistant, call, output, plain, settingsFor, TOOLS, user } from './support.js';
import { WIRES } from './wires.js';

let server: ModelServer;
let settings: ProviderSettings;

beforeEach(async () => {
  server = await startModelServer();
  settings = settingsFor({ base_url: server.url });
});
afterEach(() => server.close());

const OK = WIRES[0]?.stream([{ say: 'ok' }]) ?? [];
const last = () => server.requests.at(-1)?.body ?? {};
const send = async (changes: Partial<ModelRequest> & { modelId?: string } = {}, stream = OK) => {
  server.reply({ stream });
  return await ask(settings, changes);
};

test('the body and the headers of a request', async () => {
  await send({
    modelId: 'gpt-5.4',
    tools: [...TOOLS, { type: 'web_search', external_web_access: false }],
    reasoning: { effort: 'xhigh', summary: 'auto' },
    verbosity: 'low',
    service_tier: 'priority',
    window: 2,
    headers: { traceparent: '00-x' },
  });
  const { tools, ...body } = last();
  expect(body).toEqual({
    model: 'gpt-5.4',
    instructions: 'Be brief.',
    input: [user('hello')],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'xhigh', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'thread-1',
    text: { verbosity: 'low' },
    service_tier: 'priority',
  });
  expect(tools).toMatchObject([
    { type: 'function', name: 'exec_command', strict: false, parameters: { type: 'object' } },
    { type: 'function', name: 'noargs' },
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark' } },
    { type: 'web_search', external_web_access: false },
  ]);
  expect(server.requests[0]?.headers).toMatchObject({
    accept: 'text/event-stream',
    originator: 'test',
    'session-id': 'thread-1',
    'thread-id': 'thread-1',
    'x-client-request-id': 'thread-1',
    'x-interpreter-window-id': 'thread-1:2',
    traceparent: '00-x',
  });
});

test.each([
  ['gpt-5.4', null, { effort: 'medium' }],
  ['gpt-5.4', 'max', { effort: 'xhigh' }],
  ['gpt-5.4', 'minimal', { effort: 'low' }],
  ['some-model', null, undefined],
  ['some-model', 'whatever', { effort: 'whatever' }],
  ['gpt-4.1', 'high', undefined],
])('the effort of %s when %s is asked for', async (modelId, effort, expected) => {
  await send({ modelId, reasoning: { effort, summary: 'none' } });
  expect(last().reasoning).toEqual(expected);
});

test('freeform tools stay freeform where the model takes them', async () => {
  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'apply_patch', input: '*** Begin Patch' };
  const stream = [sse({ type: 'response.output_item.done', item }), sse({ type: 'response.completed', response: {} })];
  const first = await send({ modelId: 'gpt-5.4', tools: TOOLS }, stream);
  expect(first.items).toEqual([item]);
  const result: HistoryItem = { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'c', output: 'ok' };
  await send({ modelId: 'gpt-5.4', tools: TOOLS, input: [...first.items, result] });
  expect(last().input).toEqual([item, result]);
});

test('reasoning goes back unchanged; that of other wires, and ids of other forms, do not', async () => {
  const reasoning: HistoryItem = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 's' }],
    encrypted_content: 'e',
  };
  const alien: HistoryItem = {
    type: 'reasoning',
    id: 'rs_2',
    summary: [],
    replay: { wire: 'messages', model: 'claude-opus-5', data: { blocks: [] } },
  };
  const odd = { ...call('c', '{}'), id: 'toolu_1' } as HistoryItem;
  const kept = { ...output('c', 'x'), id: 'fco_1' } as HistoryItem;
  const search: HistoryItem = {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', query: 'q' },
  };
  await send({ input: [reasoning, alien, odd, kept, search, assistant('a', { id: 'msg_1', phase: 'final_answer' })] });
  expect(last().input).toEqual([
    reasoning,
    call('c', '{}'),
    kept,
    search,
    assistant('a', { id: 'msg_1', phase: 'final_answer' }),
  ]);
});

test('reasoning that the service can not read is left out and the request sent again', async () => {
  const reasoning: HistoryItem = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'foreign' };
  const body = {
    error: { code: 'invalid_encrypted_content', message: 'The encrypted content could not be verified.' },
  };
  server.reply({ status: 400, body }, { stream: OK });
  const result = await ask(settings, { input: [user('q'), reasoning] });
  expect(result.text).toBe('ok');
  expect(last().input).toEqual([user('q')]);
  server.reply({ status: 400, body });
  expect((await ask(settings, { input: [user('q')] })).last.type).toBe('failed');
});

test('raw reasoning and sections are told', async () => {
  const event = (type: string, fields: object) =>
    sse({ type: `response.${type}`, item_id: 'rs_1', output_index: 0, ...fields });
  const item = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] };
  const result = await send({}, [
    event('reasoning_summary_part.added', { summary_index: 0 }),
    event('reasoning_summary_text.delta', { summary_index: 0, delta: 'sum' }),
    event('reasoning_text.delta', { content_index: 0, delta: 'raw' }),
    sse({ type: 'response.output_item.done', item }),
    sse({ type: 'response.completed', response: { id: 'r' } }),
  ]);
  expect(result.events.slice(1, -1)).toEqual([
    { type: 'item.started', item_id: 'rs_1', kind: 'reasoning' },
    { type: 'reasoning.section', item_id: 'rs_1', summary_index: 0 },
    { type: 'reasoning.delta', item_id: 'rs_1', summary_index: 0, delta: 'sum' },
    { type: 'reasoning.raw_delta', item_id: 'rs_1', content_index: 0, delta: 'raw' },
    { type: 'item.completed', item: { ...item, encrypted_content: null } },
  ]);
  expect(result.last).toEqual({ type: 'completed', response_id: 'r', usage: null, truncated: false });
});

test.each([
  [
    'items only at the end',
    [
      sse({
        type: 'response.completed',
        response: {
          id: 'r',
          output: [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'late' }] }],
        },
      }),
    ],
  ],
  [
    'a server that names events but does not type them',
    [
      'event: response.output_item.done\ndata: {"item":{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"late"}]}}\n\n',
      'event: response.completed\ndata: {"response":{}}\n\n',
    ],
  ],
])('%s', async (_name, stream) => {
  expect(plain((await send({}, stream)).items)).toEqual([assistant('late')]);
});

test('a server that does not stream is understood', async () => {
  const response = { object: 'response', id: 'r', status: 'completed', output: [{ type: 'message', content: 'hi' }] };
  server.reply({ status: 200, body: response });
  expect(plain((await ask(settings)).items)).toEqual([assistant('hi')]);
});

test('calls of local servers: arguments as an object, no call id, a refusal as text', async () => {
  const done = (item: object) => sse({ type: 'response.output_item.done', item });
  const result = await send({ tools: TOOLS }, [
    done({ type: 'function_call', id: 'fc_9', name: 'exec_command', arguments: { cmd: 'ls' } }),
    done({ type: 'message', id: 'msg_1', content: [{ type: 'refusal', refusal: 'no' }] }),
    done({ type: 'mystery', id: 'x' }),
    sse({ type: 'response.completed', response: {} }),
  ]);
  expect(plain(result.items)).toEqual([call('fc_9', '{"cmd":"ls"}'), assistant('no')]);
});

test.each([
  ['response.incomplete', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
  ['response.completed', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
])('an incomplete answer (%s) is truncated and loses its cut items', async (type, response) => {
  const done = (item: object) => sse({ type: 'response.output_item.done', item });
  const result = await send({ tools: TOOLS }, [
    done({ type: 'function_call', call_id: 'a', name: 'noargs', arguments: '{}' }),
    done({ type: 'custom_tool_call', call_id: 'b', name: 'apply_patch', input: '*** Beg', status: 'incomplete' }),
    sse({ type, response }),
  ]);
  expect(plain(result.items)).toEqual([call('a', '{}', 'noargs')]);
  expect(result.last).toMatchObject({ type: 'completed', truncated: true });
});

test.each([
  [{ type: 'response.incomplete', response: { incomplete_details: { reason: 'content_filter' } } }, 'other'],
  [{ type: 'error', code: 'rate_limit_exceeded', message: 'slow down' }, 'rate_limited'],
  [{ type: 'error', error: { type: 'invalid_request_error', message: 'bad' } }, 'bad_request'],
  [
    { type: 'response.completed', response: { status: 'failed', error: { code: 'server_error', message: 'x' } } },
    'internal_server_error',
  ],
])('%j is an error', async (event, kind) => {
  expect((await send({}, [sse(event)])).last).toMatchObject({ type: 'failed', error: { kind } });
});
