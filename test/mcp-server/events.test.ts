import { afterEach, describe, expect, test } from 'vitest';
import { type Step, script } from '../support/scripted-threads.js';
import { modernMeta } from './clients.js';
import { type LocalServer, startServer } from './local-server.js';
import { SETTINGS } from './test-config.js';

let local: LocalServer;
afterEach(() => local.server.close());

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const ms = expect.any(Number);

/** The messages of one call, without those every turn begins and ends with. */
async function messagesOf(...steps: Step[]): Promise<{ type: string }[]> {
  local = startServer();
  await local.client.initialize();
  await local.client.call('codex', { prompt: script(...steps), cwd: '/w x' });
  const types = local.client.events().map(({ msg }) => msg);
  return types.slice(types.findIndex(({ type }) => type === 'user_message') + 1, -1);
}

test('the frame of a turn: every message, its order, and whom it belongs to', async () => {
  local = startServer();
  await local.client.initialize();
  const { result } = await local.client.call('codex', { prompt: 'hi' }, { id: 'call-1' });
  const { threadId } = result.structuredContent;
  const events = local.client.events();
  for (const { _meta } of events) expect(_meta).toEqual({ requestId: 'call-1', threadId });
  const turnId = events.at(-1)?.id;
  expect(events.map(({ id }) => id)).toEqual(['', '', ...Array(events.length - 2).fill(turnId)]);
  const item = { type: 'UserMessage', id: uuid, content: [{ type: 'text', text: 'hi', text_elements: [] }] };
  const span = { thread_id: threadId, turn_id: turnId };
  const usage = { ...result.structuredContent.usage };
  const text = 'said: hi';
  expect(events.map(({ msg }) => msg)).toEqual([
    {
      type: 'session_configured',
      session_id: threadId,
      thread_id: threadId,
      model: 'scripted',
      model_provider_id: 'scripted',
      approval_policy: 'on-request',
      approvals_reviewer: 'user',
      permission_profile: {
        type: 'managed',
        file_system: {
          type: 'restricted',
          entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
        },
        network: 'restricted',
      },
      cwd: '/w',
      rollout_path: `/home/of/agent/sessions/rollout-${threadId}.jsonl`,
    },
    { type: 'mcp_startup_complete', ready: [], failed: [], cancelled: [] },
    {
      type: 'task_started',
      turn_id: turnId,
      started_at: ms,
      model_context_window: 100_000,
      collaboration_mode_kind: 'default',
    },
    {
      type: 'raw_response_item',
      item: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'hi' }],
        internal_chat_message_metadata_passthrough: { turn_id: turnId },
      },
    },
    { type: 'item_started', ...span, item, started_at_ms: ms },
    { type: 'item_completed', ...span, item, started_at_ms: ms, completed_at_ms: ms },
    {
      type: 'user_message',
      message: 'hi',
      images: [],
      local_images: [],
      audio: [],
      local_audio: [],
      text_elements: [],
    },
    {
      type: 'item_started',
      ...span,
      item: { type: 'AgentMessage', id: uuid, content: [{ type: 'Text', text: '' }] },
      started_at_ms: ms,
    },
    { type: 'agent_message_content_delta', ...span, item_id: uuid, delta: text },
    {
      type: 'item_completed',
      ...span,
      item: { type: 'AgentMessage', id: uuid, content: [{ type: 'Text', text }] },
      started_at_ms: ms,
      completed_at_ms: ms,
    },
    { type: 'agent_message', message: text, phase: null, memory_citation: null },
    { type: 'raw_response_completed', response_id: 'resp_1', token_usage: usage },
    {
      type: 'token_count',
      info: { total_token_usage: usage, last_token_usage: usage, model_context_window: 100_000 },
      rate_limits: null,
    },
    {
      type: 'task_complete',
      turn_id: turnId,
      last_agent_message: text,
      started_at: ms,
      completed_at: ms,
      duration_ms: ms,
      time_to_first_token_ms: 5,
    },
  ]);
});

test('a reply starts no second session', async () => {
  local = startServer();
  await local.client.initialize();
  const { result } = await local.client.call('codex', { prompt: 'a' });
  await local.client.call('codex-reply', { prompt: 'b', threadId: result.structuredContent.threadId }, { id: 'r' });
  const reply = local.client.events().filter(({ _meta }) => _meta.requestId === 'r');
  expect(reply[0].msg.type).toBe('task_started');
});

describe('items', () => {
  test('a command: begin, output, end, with the same facts as its item', async () => {
    const got = await messagesOf({ command: 'echo hi; exit 3', output: 'hi\n', exit: 3 });
    const facts = {
      process_id: '4711',
      command: ['/bin/bash', '-lc', 'echo hi; exit 3'],
      cwd: 'file:///w%20x',
      parsed_cmd: [{ type: 'unknown', cmd: 'echo hi; exit 3' }],
      source: 'unified_exec_startup',
    };
    const outcome = {
      status: 'failed',
      stdout: 'hi\n',
      stderr: '',
      aggregated_output: 'hi\n',
      exit_code: 3,
      duration: { secs: 1, nanos: 500_000_000 },
      formatted_output: 'hi\n',
    };
    const ids = { thread_id: uuid, turn_id: uuid };
    const item = { type: 'CommandExecution', id: 'call_1', ...facts };
    expect(got).toEqual([
      { type: 'item_started', ...ids, item: { ...item, status: 'in_progress' }, started_at_ms: ms },
      { type: 'exec_command_begin', call_id: 'call_1', turn_id: uuid, started_at_ms: ms, ...facts },
      { type: 'exec_command_output_delta', call_id: 'call_1', stream: 'stdout', chunk: btoa('hi\n') },
      { type: 'item_completed', ...ids, item: { ...item, ...outcome }, started_at_ms: ms, completed_at_ms: ms },
      { type: 'exec_command_end', call_id: 'call_1', turn_id: uuid, completed_at_ms: ms, ...facts, ...outcome },
    ]);
  });

  test('a patch: begin, end, and the diff of the turn', async () => {
    const changes = { '/w/a': { type: 'add' as const, content: 'x\n' } };
    const got = await messagesOf({ patch: changes });
    const ids = { thread_id: uuid, turn_id: uuid };
    const item = { type: 'FileChange', id: 'call_1', changes };
    const outcome = { status: 'completed', stdout: 'Success.', stderr: '' };
    expect(got).toEqual([
      { type: 'item_started', ...ids, item: { ...item, auto_approved: true }, started_at_ms: ms },
      { type: 'patch_apply_begin', call_id: 'call_1', turn_id: uuid, auto_approved: true, changes },
      { type: 'item_completed', ...ids, item: { ...item, ...outcome }, started_at_ms: ms, completed_at_ms: ms },
      { type: 'patch_apply_end', call_id: 'call_1', turn_id: uuid, success: true, changes, ...outcome },
      { type: 'turn_diff', unified_diff: 'diff --git a/x b/x\n' },
    ]);
  });

  test('a tool of an inner server', async () => {
    const got = await messagesOf({ tool: 'echo', server: 'fk', arguments: { text: 'hi' } });
    const invocation = { server: 'fk', tool: 'echo', arguments: { text: 'hi' } };
    const result = { content: [{ type: 'text', text: 'ok' }] };
    const duration = { secs: 0, nanos: 12_000_000 };
    const item = { type: 'McpToolCall', id: 'call_1', ...invocation, readOnlyHint: false };
    const ids = { thread_id: uuid, turn_id: uuid };
    expect(got).toEqual([
      { type: 'item_started', ...ids, item: { ...item, status: 'inProgress' }, started_at_ms: ms },
      { type: 'mcp_tool_call_begin', call_id: 'call_1', invocation, read_only_hint: false },
      {
        type: 'item_completed',
        ...ids,
        item: { ...item, status: 'completed', result, duration },
        started_at_ms: ms,
        completed_at_ms: ms,
      },
      {
        type: 'mcp_tool_call_end',
        call_id: 'call_1',
        invocation,
        read_only_hint: false,
        duration,
        result: { Ok: result },
      },
    ]);
  });

  test.each<[string, Step, string[]]>([
    [
      'reasoning',
      { think: 'hm' },
      ['item_started', 'agent_reasoning_section_break', 'reasoning_content_delta', 'item_completed', 'agent_reasoning'],
    ],
    ['a plan', { plan: [{ step: 'a', status: 'pending' }] }, ['plan_update']],
    ['a web search', { search: 'q' }, ['item_started', 'web_search_begin', 'item_completed', 'web_search_end']],
    ['an image', { image: '/w/i.png' }, ['item_started', 'item_completed', 'view_image_tool_call']],
    ['compaction', { compact: true }, ['item_started', 'item_completed', 'context_compacted']],
    ['a warning', { warn: 'careful' }, ['warning']],
    ['a retry', { retry: 'cut' }, ['stream_error']],
  ])('%s', async (_name, step, types) => {
    expect((await messagesOf(step)).map(({ type }) => type)).toEqual(types);
  });

  test('a failed turn ends with an error and nothing else', async () => {
    local = startServer();
    await local.client.initialize();
    const fail = { message: 'gone', kind: 'stream_disconnected' as const, http_status: 502 };
    await local.client.call('codex', { prompt: script({ fail }) });
    expect(local.client.events().at(-1)?.msg).toEqual({
      type: 'error',
      message: 'gone',
      codex_error_info: { response_stream_disconnected: { http_status_code: 502 } },
    });
  });
});

describe('deltas', () => {
  test('are merged, keep their order, and add up to the text', async () => {
    const say = Array.from({ length: 2000 }, (_, i) => `${i} `).join('');
    const got = await messagesOf({ say, chunks: 2000 });
    const deltas = got.filter(({ type }) => type === 'agent_message_content_delta') as unknown as { delta: string }[];
    expect(deltas.length).toBeLessThan(50);
    expect(deltas.map(({ delta }) => delta).join('')).toBe(say);
    expect(got.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1])).toEqual([
      'item_started',
      'agent_message_content_delta',
      'item_completed',
      'agent_message',
      'raw_response_completed',
      'token_count',
    ]);
  });

  test('arrive while the model still speaks', async () => {
    local = startServer();
    await local.client.initialize();
    const prompt = script({ say: 'one two ', chunks: 2, pauseMs: 60 }, { wait: -1 });
    local.client.send({ id: 1, method: 'tools/call', params: { name: 'codex', arguments: { prompt } } });
    await local.client.waitFor(() => local.client.events('agent_message_content_delta')[0]);
    expect(local.client.responses.find(({ id }) => id === 1)).toBeUndefined();
  });

  test('are never cut inside a character', async () => {
    const got = await messagesOf({ say: 'a😀b', chunks: 4, pauseMs: 60 });
    const deltas = got.filter(({ type }) => type === 'agent_message_content_delta') as unknown as { delta: string }[];
    expect(deltas.map(({ delta }) => delta).join('')).toBe('a😀b');
  });

  test('of a command stop after 1 MiB', async () => {
    const part: Step[] = [{ command: 'x', output: 'y'.repeat(50_000), id: 'one' }, { wait: 1 }];
    const got = await messagesOf(...Array.from({ length: 30 }, () => part).flat());
    const chunks = got.filter(({ type }) => type === 'exec_command_output_delta') as unknown as { chunk: string }[];
    const bytes = chunks.reduce((sum, { chunk }) => sum + Buffer.from(chunk, 'base64').length, 0);
    expect(bytes).toBe(1024 * 1024);
  });
});

test('no event comes after the response of its call', async () => {
  local = startServer();
  await local.client.initialize();
  await local.client.call('codex', { prompt: script({ say: 'x'.repeat(1000), chunks: 100 }) }, { id: 'a' });
  await local.client.call('codex', { prompt: 'x' }, { id: 'b' });
  const answered = local.client.messages.findIndex(({ id }) => id === 'a');
  const last = local.client.messages.findLastIndex(({ params }) => params?._meta?.requestId === 'a');
  expect(last).toBeLessThan(answered);
});

test('events of calls that run side by side are not mixed', async () => {
  local = startServer();
  await local.client.initialize();
  const ids = [0, 1, 2, 3, 4, 5, 6, 7];
  const results = await Promise.all(
    ids.map(id =>
      local.client.call('codex', { prompt: script({ wait: 8 - id }, { say: `key-${id}`, chunks: 3 }) }, { id }),
    ),
  );
  for (const { _meta, msg } of local.client.events()) {
    expect(_meta.threadId).toBe(results[_meta.requestId]?.result.structuredContent.threadId);
    const key = /key-(\d)/.exec(JSON.stringify(msg))?.[1];
    expect(key ?? String(_meta.requestId)).toBe(String(_meta.requestId));
  }
});

test('events can be switched off', async () => {
  local = startServer({ settings: { ...SETTINGS, events: 'none' } });
  await local.client.initialize();
  const { result } = await local.client.call('codex', { prompt: 'x' });
  expect(result.structuredContent.content).toBe('said: x');
  expect(local.client.messages.filter(({ method }) => method !== undefined)).toEqual([]);
});

test('clients of 2026-07-28 get none, but progress', async () => {
  local = startServer();
  const _meta = modernMeta({}, '2026-07-28', { progressToken: 'p' });
  await local.client.request('tools/call', { name: 'codex', arguments: { prompt: 'x' }, _meta });
  const methods = new Set(local.client.messages.flatMap(({ method }) => method ?? []));
  expect(methods).toEqual(new Set(['notifications/progress']));
});

test('without events the log has the warnings', async () => {
  local = startServer({ settings: { ...SETTINGS, events: 'none' } });
  await local.client.initialize();
  await local.client.call('codex', { prompt: script({ warn: 'careful' }) });
  expect(local.logs).toEqual(['careful']);
});
