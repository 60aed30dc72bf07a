/** Approvals of clients with a handshake: `elicitation/create` while the call waits. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ApprovalDecision } from '../../src/protocol/index.js';
import { type Ask, type Step, script } from '../support/scripted-threads.js';
import { type LocalServer, startServer } from './local-server.js';
import { SETTINGS } from './test-config.js';

let local: LocalServer;
let calls = 0;
beforeEach(async () => {
  calls = 0;
  local = startServer();
  await local.client.initialize();
});
afterEach(async () => {
  vi.useRealTimers();
  await local.server.close();
});

const command = (ask: Ask = {}): Step => ({ command: 'touch made.txt', ask });
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

/** The decisions the agent got, and the result of the call. */
async function decide(step: Step, reply: object | undefined, afterMs = 0) {
  if (afterMs > 0) vi.useFakeTimers({ toFake: ['performance'] });
  local.client.onRequest = () => {
    if (afterMs > 0) vi.advanceTimersByTime(afterMs);
    return reply;
  };
  const prompt = script(step, { decisions: true });
  const { result } = await local.client.call('codex', { prompt }, { id: `tool-${++calls}` });
  const decisions: ApprovalDecision[] = result.isError ? [] : JSON.parse(result.structuredContent.content);
  return { result, decisions };
}

async function decision(step: Step, reply: object, afterMs?: number): Promise<ApprovalDecision | undefined> {
  return (await decide(step, { result: reply }, afterMs)).decisions[0];
}

describe('the question', () => {
  test('about a command says all in its message and in a form, and carries what older clients read', async () => {
    const ask = { reason: 'npm needs the net', unsandboxed: true, rule: ['npm', 'install'] };
    await decide(command(ask), { result: { decision: 'approved' } });
    const [request] = local.client.requests;
    const turnId = local.client.events('task_started')[0].msg.turn_id;
    expect(request).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'elicitation/create',
      params: {
        message: [
          'Run this command outside the sandbox, with full access?',
          '',
          '  touch made.txt',
          '',
          'Directory: /w',
          'Reason: npm needs the net',
        ].join('\n'),
        requestedSchema: {
          type: 'object',
          properties: {
            decision: {
              type: 'string',
              title: 'Decision',
              description: expect.any(String),
              enum: ['approved', 'approved_for_session', 'approved_execpolicy_amendment', 'denied'],
              enumNames: [
                'Approve once',
                'Approve for the rest of this thread',
                'Approve and always allow: npm install …',
                'Deny',
              ],
            },
            note: { type: 'string', title: 'Note', description: expect.any(String) },
          },
        },
        threadId: uuid,
        codex_elicitation: 'exec-approval',
        codex_mcp_tool_call_id: 'tool-1',
        codex_event_id: turnId,
        codex_call_id: 'call_1',
        codex_command: ['/bin/bash', '-lc', 'touch made.txt'],
        codex_cwd: '/w',
        codex_parsed_cmd: [{ type: 'unknown', cmd: 'touch made.txt' }],
        codex_reason: 'npm needs the net',
      },
    });
  });

  test('shows what would act on a screen instead of letting it', async () => {
    const hostile = 'echo a\n\tb \u001b[2J\u202e\u0007\r > x';
    await decide({ command: hostile, ask: { reason: 'why\u001b[1m' } }, { result: { decision: 'denied' } });
    const { message, codex_command } = local.client.requests[0]?.params ?? {};
    expect(message).toBe(
      [
        'Run this command?',
        '',
        '  echo a',
        '  \tb \\u001b[2J\\u202e\\u0007\\u000d > x',
        '',
        'Directory: /w',
        'Reason: why\\u001b[1m',
      ].join('\n'),
    );
    expect(codex_command).toEqual(['/bin/bash', '-lc', hostile]);
  });

  test('about a patch lists the files with their counts', async () => {
    const changes = {
      '/w/new.txt': { type: 'add' as const, content: 'a\nb\n' },
      '/w/src/u.ts': {
        type: 'update' as const,
        unified_diff: '@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+3\n',
        move_path: '/w/src/v.ts',
      },
      '/other/d': { type: 'delete' as const, content: 'x' },
    };
    await decide({ patch: changes, ask: { reason: 'outside' } }, { result: { decision: 'approved' } });
    const { params } = local.client.requests[0] ?? {};
    expect(params).toMatchObject({
      codex_elicitation: 'patch-approval',
      codex_changes: changes,
      codex_reason: 'outside',
    });
    expect(params.message).toBe(
      [
        'Apply these changes?',
        '',
        '  A new.txt (+2)',
        '  M src/u.ts -> src/v.ts (+2 -1)',
        '  D /other/d (-1)',
        '',
        'Directory: /w',
        'Reason: outside',
      ].join('\n'),
    );
  });

  test('about a tool names the server, the tool and the arguments', async () => {
    await decide(
      { tool: 'drop', server: 'db', arguments: { table: 'users' }, ask: {} },
      { result: { action: 'accept' } },
    );
    const { params } = local.client.requests[0] ?? {};
    expect(params.message).toMatch(/tool drop of the MCP server db[\s\S]*"table": "users"/);
    expect(params.codex_elicitation).toBe('mcp-tool-approval');
  });

  test('comes after its event, and before the command begins', async () => {
    await decide(command({ rule: ['touch'] }), { result: { decision: 'approved' } });
    const order = local.client.messages.map(({ method, params }) => params?.msg?.type ?? method);
    const asked = order.indexOf('exec_approval_request');
    expect(asked).toBeGreaterThan(0);
    expect(order.indexOf('elicitation/create')).toBeGreaterThan(asked);
    expect(order.indexOf('exec_command_begin')).toBeGreaterThan(order.indexOf('elicitation/create'));
    expect(local.client.events('exec_approval_request')[0].msg).toMatchObject({
      call_id: 'call_1',
      command: ['/bin/bash', '-lc', 'touch made.txt'],
      cwd: '/w',
      proposed_execpolicy_amendment: ['touch'],
      available_decisions: [
        'approved',
        'approved_for_session',
        { approved_execpolicy_amendment: { proposed_execpolicy_amendment: ['touch'] } },
        'denied',
        'abort',
      ],
    });
  });

  test('does not offer the thread where that would remember nothing', async () => {
    await decide(command({ onceOnly: true }), { result: { decision: 'approved' } });
    expect(local.client.requests[0]?.params.requestedSchema.properties.decision).toMatchObject({
      enum: ['approved', 'denied'],
      enumNames: ['Approve once', 'Deny'],
    });
    expect(local.client.events('exec_approval_request')[0].msg.available_decisions).toEqual([
      'approved',
      'denied',
      'abort',
    ]);
  });

  test('of an inner server is passed on, and its answer comes back', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const step: Step = { elicit: 'Which city?', server: 'weather', schema };
    expect(await decision(step, { action: 'accept', content: { city: 'Graz' } })).toEqual({
      type: 'approved',
      content: { city: 'Graz' },
    });
    expect(local.client.requests[0]?.params).toMatchObject({
      message: 'weather asks: Which city?',
      requestedSchema: schema,
    });
  });
});

const unclear = { type: 'denied', by: 'client', reason: 'its answer could not be understood' };
const rule = (words: unknown) => ({ approved_execpolicy_amendment: { proposed_execpolicy_amendment: words } });

describe('the answer', () => {
  test.each<[object, object]>([
    [{ action: 'accept' }, { type: 'approved' }],
    [{ action: 'accept', content: {} }, { type: 'approved' }],
    [{ action: 'accept', content: null }, { type: 'approved' }],
    [
      { action: 'accept', content: { note: ' use pnpm ' } },
      { type: 'approved', note: 'use pnpm' },
    ],
    [{ action: 'accept', content: { decision: 'approved' } }, { type: 'approved' }],
    [{ action: 'accept', content: { decision: 'approved_for_session' } }, { type: 'approved_for_thread' }],
    [{ decision: 'approved' }, { type: 'approved' }],
    [{ decision: 'approved_for_session' }, { type: 'approved_for_thread' }],
    [{ decision: 'approved', action: 'accept', content: {} }, { type: 'approved' }],
    [{ decision: rule(['touch']) }, { type: 'approved_with_rule', prefix: ['touch'] }],
    [
      { action: 'accept', content: { decision: 'approved_execpolicy_amendment' } },
      { type: 'approved_with_rule', prefix: ['touch', 'made.txt'] },
    ],
    [{ decision: 'denied' }, { type: 'denied', by: 'client', reason: expect.stringMatching(/^\d+ ms after/) }],
    [{ decision: { denied: { rejection: 'no net' } } }, { type: 'denied', by: 'client', reason: 'no net' }],
    [
      { action: 'accept', content: { decision: 'denied', note: 'no' } },
      { type: 'denied', by: 'client', reason: 'no' },
    ],
    [{ action: 'decline' }, { type: 'denied', by: 'client', reason: expect.stringMatching(/^\d+ ms after/) }],
    [
      { action: 'decline', decision: 'approved' },
      { type: 'denied', by: 'client', reason: expect.anything() },
    ],
    [{ action: 'cancel' }, { type: 'denied', by: 'client', reason: 'the question was dismissed' }],
    [{ decision: 'timed_out' }, { type: 'denied', by: 'timeout', reason: expect.any(String) }],
    [{}, unclear],
    [{ decision: 'yes please', action: 42 }, unclear],
    [{ decision: 'yes please' }, unclear],
    [{ decision: true }, unclear],
    [{ decision: { approved: true } }, unclear],
    [{ decision: rule([]) }, unclear],
    [{ decision: rule(['touch', 7]) }, unclear],
    [{ decision: rule(['']) }, unclear],
    [{ decision: { ...rule(['a']), denied: {} } }, unclear],
    [{ decision: 'approved_mcp_policy_amendment' }, unclear],
    [{ action: 'accept', content: { decision: 'Approve once' } }, unclear],
    [{ action: 'accept', content: { decision: '' } }, unclear],
    [{ action: 'accept', content: 'approved' }, unclear],
    [{ action: 'ACCEPT' }, unclear],
    [{ content: { decision: 'approved' }, action: null }, unclear],
  ])('%j means %j', async (reply, expected) => {
    expect(await decision(command({ rule: ['touch', 'made.txt'] }), reply)).toEqual(expected);
  });

  test.each<[object, string]>([
    [{ action: 'accept', content: { decision: 'denied', note: 'not on main' } }, 'not on main'],
    [{ action: 'decline' }, ''],
    [{ decision: { denied: { rejection: 'no net' } } }, 'no net'],
  ])('a slow no is that of a person: %j', async (reply, reason) => {
    expect(await decision(command(), reply, 1_500)).toEqual({ type: 'denied', by: 'person', reason });
  });

  test('a rule can not be saved where none was offered or for a patch', async () => {
    const saved = { action: 'accept', content: { decision: 'approved_execpolicy_amendment' } };
    expect(await decision(command(), saved)).toEqual(unclear);
    const patch: Step = { patch: { '/w/a': { type: 'add', content: '' } }, ask: {} };
    expect(await decision(patch, { decision: rule(['touch']) })).toEqual(unclear);
  });

  test('abort ends the turn, and the call is answered once', async () => {
    const { result } = await decide(command(), { result: { decision: 'abort' } });
    const { threadId } = result.structuredContent;
    expect(result).toMatchObject({
      content: [{ text: 'turn aborted' }, { text: `threadId: ${threadId}` }],
      structuredContent: { content: 'turn aborted', status: 'aborted' },
      isError: true,
    });
    expect(local.client.events('exec_command_begin')).toEqual([]);
    const again = await local.client.call('codex-reply', { threadId, prompt: 'x' });
    expect(again.result.structuredContent.content).toBe('said: x');
  });

  test('a denied command has neither begin nor end, a denied patch ends as declined', async () => {
    const patch: Step = { patch: { '/w/a': { type: 'add', content: '' } }, ask: {} };
    local.client.onRequest = () => ({ result: { action: 'decline' } });
    await local.client.call('codex', { prompt: script(command(), patch) });
    const types = local.client.events().map(({ msg }) => msg.type);
    expect(types.filter(type => type.startsWith('exec_command'))).toEqual([]);
    expect(local.client.events('patch_apply_end')[0].msg).toMatchObject({ success: false, status: 'declined' });
  });
});

describe('a client that can not be asked', () => {
  test.each<[string, object]>([
    ['declared nothing', {}],
    ['can only open pages', { elicitation: { url: {} } }],
    ['declared nonsense', { elicitation: true }],
  ])('because it %s: denied at once as a matter of policy', async (_what, capabilities) => {
    const mute = startServer();
    await mute.client.initialize(capabilities);
    const { result } = await mute.client.call('codex', { prompt: script(command(), { decisions: true }) });
    expect(JSON.parse(result.structuredContent.content)).toEqual([
      { type: 'denied', by: 'policy', reason: expect.stringContaining('did not declare') },
    ]);
    expect(mute.client.requests).toEqual([]);
    await mute.server.close();
  });

  test.each<[string, object]>([
    ['form', { elicitation: { form: {} } }],
    ['both modes', { elicitation: { form: {}, url: {} } }],
  ])('but one with %s is asked', async (_what, capabilities) => {
    const able = startServer();
    await able.client.initialize(capabilities);
    able.client.onRequest = () => ({ result: { action: 'accept' } });
    const { result } = await able.client.call('codex', { prompt: script(command(), { decisions: true }) });
    expect(JSON.parse(result.structuredContent.content)).toEqual([{ type: 'approved' }]);
    await able.server.close();
  });

  test('because it answers with an error', async () => {
    const { decisions } = await decide(command(), { error: { code: -32601, message: 'Method not found' } });
    expect(decisions).toEqual([{ type: 'denied', by: 'policy', reason: expect.stringContaining('Method not found') }]);
  });

  test.each([{ result: 'yes' }, { error: 'no' }, { result: [] }, {}])(
    'because its answer is malformed: %j',
    async reply => {
      const { decisions } = await decide(command(), reply);
      expect(decisions).toMatchObject([{ type: 'denied' }]);
    },
  );

  test('because it stays silent: denied when the time is over, and the turn goes on', async () => {
    const hasty = startServer({ settings: { ...SETTINGS, approval_timeout_ms: 30 } });
    await hasty.client.initialize();
    const { result } = await hasty.client.call('codex', { prompt: script(command(), { decisions: true }) });
    expect(JSON.parse(result.structuredContent.content)).toEqual([
      { type: 'denied', by: 'timeout', reason: expect.stringContaining('no answer') },
    ]);
    const [cancelled] = hasty.client.notifications('notifications/cancelled');
    expect(cancelled?.params.requestId).toBe(hasty.client.requests[0]?.id);
    await hasty.server.close();
  });
});

test('a cancelled call drops its question, and a late answer is ignored', async () => {
  const prompt = script(command(), { say: 'never' });
  local.client.send({ id: 300, method: 'tools/call', params: { name: 'codex', arguments: { prompt } } });
  const question = await local.client.waitFor(() => local.client.requests[0]);
  local.client.notify('notifications/cancelled', { requestId: 300 });
  await local.client.waitFor(() => local.client.events('turn_aborted')[0]);
  local.client.send({ id: question.id, result: { decision: 'approved', action: 'accept', content: {} } });
  const { threadId } = question.params;
  const reply = await local.client.call('codex-reply', { threadId, prompt: 'more' });
  expect(reply.result.structuredContent).toMatchObject({ threadId, content: 'said: more' });
  expect(local.client.events('exec_command_begin')).toEqual([]);
  expect(local.client.responses.find(({ id }) => id === 300)).toBeUndefined();
});

test('an open question delays nobody else', async () => {
  const prompt = script(command());
  local.client.send({ id: 1, method: 'tools/call', params: { name: 'codex', arguments: { prompt } } });
  await local.client.waitFor(() => local.client.requests[0]);
  expect((await local.client.call('codex', { prompt: 'x' })).result.structuredContent.content).toBe('said: x');
  expect((await local.client.request('ping')).result).toEqual({});
});

test('several questions are open at the same time, each answered by its own reply', async () => {
  local.client.onRequest = ({ params }) => ({
    result: { decision: params.codex_call_id === 'call_1' ? 'approved' : 'approved_for_session' },
  });
  const steps: Step[] = [{ together: [command(), command()] }, { decisions: true }];
  const { result } = await local.client.call('codex', { prompt: script(...steps) });
  expect(JSON.parse(result.structuredContent.content)).toEqual([{ type: 'approved' }, { type: 'approved_for_thread' }]);
});
