import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../support/scripted-threads.js';
import { type LocalServer, startServer } from './local-server.js';
import { SETTINGS } from './test-config.js';

let local: LocalServer;
beforeEach(async () => {
  local = startServer();
  await local.client.initialize();
});
afterEach(() => local.server.close());

const usage = {
  input_tokens: 100,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 100,
};
const patch = { '/w/a.txt': { type: 'add' as const, content: 'x\n' } };

test('a completed turn: text, thread id as text, and the same again as structure', async () => {
  const { result } = await local.client.call('codex', { prompt: script({ patch }, { say: 'done' }) });
  const { threadId } = result.structuredContent;
  expect(result).toEqual({
    content: [
      { type: 'text', text: 'done' },
      { type: 'text', text: `threadId: ${threadId}` },
    ],
    structuredContent: { threadId, content: 'done', status: 'completed', usage, changes: patch },
  });
});

test('half a surrogate pair of a model does not make a line that strict readers refuse', async () => {
  const { result } = await local.client.call('codex', { prompt: script({ say: 'cut \ud83d' }) });
  expect(result.structuredContent.content).toBe('cut \ufffd');
  expect(local.client.events('agent_message')[0].msg.message).toBe('cut \ufffd');
});

test('a turn without a message answers with an empty text', async () => {
  const { result } = await local.client.call('codex', { prompt: '[]' });
  expect(result.content[0]).toEqual({ type: 'text', text: '' });
  expect(result.structuredContent.content).toBe('');
});

test('a failed turn: the error first, then what had been said', async () => {
  const fail = { message: '500 from http://x/v1: boom', kind: 'internal_server_error' as const };
  const { result } = await local.client.call('codex', { prompt: script({ say: 'partial' }, { fail }) });
  const { threadId } = result.structuredContent;
  expect(result).toEqual({
    content: [
      { type: 'text', text: fail.message },
      { type: 'text', text: 'The last message before that: partial' },
      { type: 'text', text: `threadId: ${threadId}` },
    ],
    structuredContent: { threadId, content: fail.message, status: 'failed', usage },
    isError: true,
  });
  const again = await local.client.call('codex-reply', { prompt: 'go on', threadId });
  expect(again.result.structuredContent.content).toBe('said: go on');
});

test('a fault of the product is answered, logged with its stack, and survived', async () => {
  const { result } = await local.client.call('codex', { prompt: script({ crash: 'off by one' }) });
  expect(result).toEqual({ content: [{ type: 'text', text: 'Internal error: off by one' }], isError: true });
  expect(local.logs.join('\n')).toMatch(/off by one\n\s+at /);
  expect((await local.client.call('codex', { prompt: 'x' })).result.structuredContent.content).toBe('said: x');
});

test('threads that can not be loaded are reported, and tried again', async () => {
  let tries = 0;
  const failing = startServer({
    threads: () => {
      tries++;
      return Promise.reject(new Error('no disk'));
    },
  });
  await failing.client.initialize();
  for (const _ of [1, 2]) {
    const { result } = await failing.client.call('codex', { prompt: 'x' });
    expect(result).toEqual({ content: [{ type: 'text', text: 'Internal error: no disk' }], isError: true });
  }
  expect(tries).toBeGreaterThanOrEqual(2);
  await failing.server.close();
});

test('the thread id as text can be switched off', async () => {
  const silent = startServer({ settings: { ...SETTINGS, thread_id_text: false } });
  await silent.client.initialize();
  const { result } = await silent.client.call('codex', { prompt: 'x' });
  expect(result.content).toEqual([{ type: 'text', text: 'said: x' }]);
  await silent.server.close();
});

test('structured content matches the declared schema and repeats the text, however the turn ended', async () => {
  local.client.onRequest = () => ({ result: { decision: 'abort' } });
  const { tools } = (await local.client.request('tools/list')).result;
  const validate = new AjvJsonSchemaValidator().getValidator(tools[0].outputSchema);
  const fail = { message: 'no', kind: 'unauthorized' as const, http_status: 401 };
  const update = { type: 'update' as const, unified_diff: '@@ -1 +1 @@\n-a\n+b\n', move_path: null };
  const scripts = [
    [{ say: 'x' }],
    [{ fail }],
    [{ command: 'ls', ask: {} }],
    [{ patch: { ...patch, '/w/b': update, '/w/c': { type: 'delete' as const, content: 'c' } } }],
  ];
  const statuses = [];
  for (const steps of scripts) {
    const { result } = await local.client.call('codex', { prompt: script(...steps) });
    expect(validate(result.structuredContent)).toMatchObject({ valid: true });
    expect(result.structuredContent.content).toBe(result.content[0].text);
    statuses.push(result.structuredContent.status);
  }
  expect(statuses).toEqual(['completed', 'failed', 'aborted', 'completed']);
});

test('a cancelled call gets no answer, its turn is interrupted and the thread goes on', async () => {
  local.client.send({
    id: 77,
    method: 'tools/call',
    params: {
      name: 'codex',
      arguments: { prompt: script({ wait: -1 }, { say: 'late' }) },
      _meta: { progressToken: 1 },
    },
  });
  const other = local.client.call('codex', { prompt: script({ wait: 100 }, { say: 'other' }) });
  const started = await local.client.waitFor(() => local.client.events('task_started')[0]);
  local.client.notify('notifications/cancelled', { requestId: 77, reason: 'user' });
  await local.client.waitFor(() => local.client.events('turn_aborted')[0]);
  const { threadId } = started._meta;
  const reply = await local.client.call('codex-reply', { threadId, prompt: 'again' }, { id: 78 });
  expect(reply.result.structuredContent).toMatchObject({ threadId, content: 'said: again' });
  expect((await other).result.structuredContent.content).toBe('other');
  expect(local.client.responses.find(({ id }) => id === 77)).toBeUndefined();
  const later = local.client.events().filter(({ _meta }) => _meta.requestId === 78);
  expect(later.map(({ msg }) => msg.type)).toContain('task_complete');
});

test('a call that is cancelled before it began starts nothing', async () => {
  const slow = startServer({ resolveConfig: () => new Promise(() => {}) });
  await slow.client.initialize();
  slow.client.send({ id: 5, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'x' } } });
  slow.client.notify('notifications/cancelled', { requestId: 5 });
  expect((await slow.client.request('ping')).result).toEqual({});
  expect(slow.client.responses.find(({ id }) => id === 5)).toBeUndefined();
  await slow.server.close();
});
