/** Approvals of clients of 2026-07-28: the call ends with questions, the next one brings the answers. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Step, script } from '../support/scripted-threads.js';
import { modernMeta } from './clients.js';
import type { Message } from './line-client.js';
import { type LocalServer, startServer } from './local-server.js';
import { SETTINGS } from './test-config.js';

let local: LocalServer;
beforeEach(() => {
  local = startServer();
});
afterEach(() => local.server.close());

const FORMS = { elicitation: { form: {} } };
const command = (name = 'touch made.txt'): Step => ({ command: name, ask: {} });

type Call = { tool?: string; arguments: object; capabilities?: object; token?: string };
type Retry = { inputResponses?: object; requestState?: unknown };

function send(call: Call, retry: Retry = {}): Promise<Message> {
  const extra = call.token === undefined ? {} : { progressToken: call.token };
  return local.client.request('tools/call', {
    name: call.tool ?? 'codex',
    arguments: call.arguments,
    _meta: modernMeta(call.capabilities ?? FORMS, '2026-07-28', extra),
    ...retry,
  });
}

/** What a client sends back: the same reply to every question, and the state as it came. */
function answer({ result }: Message, reply: unknown): Retry {
  const ids = Object.keys(result.inputRequests);
  return { inputResponses: Object.fromEntries(ids.map(id => [id, reply])), requestState: result.requestState };
}

const accept = { action: 'accept', content: {} };
const decided = ({ result }: Message) => JSON.parse(result.structuredContent.content);
const call: Call = { arguments: { prompt: script(command(), { decisions: true }) } };

describe('asking', () => {
  test('the call ends with the question, and the server sends no request of its own', async () => {
    const asked = await send(call);
    const [id = ''] = Object.keys(asked.result.inputRequests);
    expect(asked.result).toEqual({
      resultType: 'input_required',
      inputRequests: {
        [id]: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Run this command?\n\n  touch made.txt\n\nDirectory: /w',
            requestedSchema: {
              type: 'object',
              properties: {
                decision: {
                  type: 'string',
                  title: 'Decision',
                  description: expect.any(String),
                  enum: ['approved', 'approved_for_session', 'denied'],
                  enumNames: expect.any(Array),
                },
                note: expect.objectContaining({ type: 'string' }),
              },
            },
            threadId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          },
        },
      },
      requestState: expect.any(String),
      _meta: expect.any(Object),
    });
    expect(local.client.requests).toEqual([]);
  });

  test('the retry continues the same turn', async () => {
    const asked = await send(call);
    const done = await send(call, answer(asked, accept));
    expect(done.result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'completed' } });
    expect(decided(done)).toEqual([{ type: 'approved' }]);
    expect(done.result.structuredContent.usage.input_tokens).toBe(100);
    expect(local.calls).toHaveLength(1);
  });

  test.each<[unknown, object]>([
    [
      { action: 'accept', content: { decision: 'approved_for_session', note: 'ok' } },
      { type: 'approved_for_thread', note: 'ok' },
    ],
    [{ action: 'decline' }, { type: 'denied', by: 'client' }],
    [{ action: 'cancel' }, { type: 'denied', by: 'client', reason: 'the question was dismissed' }],
    [{ action: 'banana' }, { type: 'denied', by: 'client', reason: 'its answer could not be understood' }],
    [{}, { type: 'denied', by: 'client', reason: 'its answer could not be understood' }],
  ])('%j means %j', async (reply, expected) => {
    expect(decided(await send(call, answer(await send(call), reply)))).toMatchObject([expected]);
  });

  test('an abort ends the turn', async () => {
    const done = await send(call, answer(await send(call), { action: 'accept', content: { decision: 'abort' } }));
    expect(done.result).toMatchObject({
      isError: true,
      structuredContent: { content: 'turn aborted', status: 'aborted' },
    });
  });

  test('questions that are open at the same time come in one round', async () => {
    const together: Call = {
      arguments: { prompt: script({ together: [command('a'), command('b'), command('c')] }, { decisions: true }) },
    };
    const asked = await send(together);
    expect(Object.keys(asked.result.inputRequests)).toHaveLength(3);
    expect(decided(await send(together, answer(asked, accept)))).toHaveLength(3);
  });

  test('questions that were not answered are asked again', async () => {
    const together: Call = {
      arguments: { prompt: script({ together: [command('a'), command('b')] }, { decisions: true }) },
    };
    const asked = await send(together);
    const [first = '', second = ''] = Object.keys(asked.result.inputRequests);
    const again = await send(together, {
      inputResponses: { [first]: accept },
      requestState: asked.result.requestState,
    });
    expect(again.result.resultType).toBe('input_required');
    expect(Object.keys(again.result.inputRequests)).toEqual([second]);
    expect(decided(await send(together, answer(again, accept)))).toHaveLength(2);
  });

  test('a turn may ask round after round', async () => {
    const rounds: Call = {
      arguments: { prompt: script(command('a'), command('b'), command('c'), { decisions: true }) },
    };
    let last = await send(rounds);
    for (let i = 0; i < 3; i++) last = await send(rounds, answer(last, accept));
    expect(decided(last)).toHaveLength(3);
  });

  test('members of the arguments may come in another order', async () => {
    const prompt = script(command(), { decisions: true });
    const asked = await send({ arguments: { prompt, cwd: '/w', config: { a: 1, b: { c: 2, d: 3 } } } });
    const done = await send(
      { arguments: { config: { b: { d: 3, c: 2 }, a: 1 }, cwd: '/w', prompt } },
      answer(asked, accept),
    );
    expect(decided(done)).toEqual([{ type: 'approved' }]);
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['pages only', { elicitation: { url: {} } }],
  ])('a client that declares %s is not asked', async (_what, capabilities) => {
    const done = await send({ ...call, capabilities });
    expect(decided(done)).toEqual([
      { type: 'denied', by: 'policy', reason: expect.stringContaining('did not declare') },
    ]);
  });

  test('a client that comes back without the capability is not asked again', async () => {
    const two: Call = { arguments: { prompt: script(command('a'), command('b'), { decisions: true }) } };
    const asked = await send(two);
    const done = await send({ ...two, capabilities: {} }, answer(asked, accept));
    expect(decided(done)).toMatchObject([{ type: 'approved' }, { type: 'denied', by: 'policy' }]);
  });

  test('the retry has its own progress, and can be cancelled', async () => {
    const long: Call = { arguments: { prompt: script(command(), { wait: -1 }) }, token: 'one' };
    const asked = await send(long);
    const params = {
      name: 'codex',
      arguments: long.arguments,
      _meta: modernMeta(FORMS, '2026-07-28', { progressToken: 'two' }),
      ...answer(asked, accept),
    };
    local.client.send({ id: 'retry', method: 'tools/call', params });
    const progress = () => local.client.notifications('notifications/progress').map(({ params }) => params);
    await local.client.waitFor(() =>
      progress().find(({ progressToken, message }) => progressToken === 'two' && message === 'running: touch made.txt'),
    );
    local.client.notify('notifications/cancelled', { requestId: 'retry' });
    const { thread } = JSON.parse(Buffer.from(asked.result.requestState.split('.')[0], 'base64url').toString());
    const reply = await send({ tool: 'codex-reply', arguments: { threadId: thread, prompt: 'next' } });
    expect(reply.result.structuredContent.content).toBe('said: next');
    expect(local.client.responses.find(({ id }) => id === 'retry')).toBeUndefined();
  });
});

describe('the state', () => {
  test('is refused when anything about it was changed', async () => {
    const asked = await send(call);
    const state: string = asked.result.requestState;
    const flip = (at: number) => `${state.slice(0, at)}${state[at] === 'A' ? 'B' : 'A'}${state.slice(at + 1)}`;
    const [body = '', mac = ''] = state.split('.');
    const other = Buffer.from(Buffer.from(body, 'base64url').toString().replace('"expires":1', '"expires":9'));
    const forgeries: unknown[] = [
      ...[0, 20, body.length - 1, body.length, body.length + 1, state.length - 1].map(flip),
      `${other.toString('base64url')}.${mac}`,
      `${state}.x`,
      `${state}=`,
      body,
      '',
      'x.y',
    ];
    for (const requestState of forgeries) {
      const { error } = await send(call, { ...answer(asked, accept), requestState });
      expect({ requestState, error }).toMatchObject({ requestState, error: { code: -32602 } });
    }
    expect((await send(call, { ...answer(asked, accept), requestState: 5 })).error.code).toBe(-32602);
    expect(decided(await send(call, answer(asked, accept)))).toEqual([{ type: 'approved' }]);
  });

  test('belongs to its call', async () => {
    const asked = await send(call);
    const otherPrompt = { arguments: { prompt: script(command(), { say: 'other' }) } };
    expect((await send(otherPrompt, answer(asked, accept))).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('another call'),
    });
    const other = await send(otherPrompt);
    expect((await send(call, answer(other, accept))).error.code).toBe(-32602);
  });

  test('is good for one use', async () => {
    const asked = await send(call);
    await send(call, answer(asked, accept));
    const replay = await send(call, answer(asked, accept));
    expect(replay.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('already answered') }, {}],
      structuredContent: { threadId: expect.any(String) },
    });
    expect(local.calls).toHaveLength(1);
  });

  test('of an earlier round is not good for a later one', async () => {
    const two: Call = { arguments: { prompt: script(command('a'), command('b'), { decisions: true }) } };
    const first = await send(two);
    const second = await send(two, answer(first, accept));
    const replay = await send(two, { ...answer(second, accept), requestState: first.result.requestState });
    expect(replay.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('once') }, {}] });
    expect(decided(await send(two, answer(second, accept)))).toHaveLength(2);
  });

  test('must not be left out', async () => {
    const asked = await send(call);
    const { inputResponses } = answer(asked, accept);
    expect((await send(call, { inputResponses: inputResponses ?? {} })).error).toMatchObject({ code: -32602 });
    expect(local.calls).toHaveLength(1);
  });

  test('of another process is refused', async () => {
    const asked = await send(call);
    await local.server.close();
    local = startServer();
    expect((await send(call, answer(asked, accept))).error.code).toBe(-32602);
  });

  test('expires: the questions count as denied, the turn ends, the thread goes on', async () => {
    await local.server.close();
    local = startServer({ settings: { ...SETTINGS, approval_timeout_ms: 40 } });
    const asked = await send(call);
    const { thread } = JSON.parse(Buffer.from(asked.result.requestState.split('.')[0], 'base64url').toString());
    const next = () => send({ tool: 'codex-reply', arguments: { threadId: thread, prompt: 'next' } });
    let reply = await next();
    while (reply.result.isError) {
      await setImmediate();
      reply = await next();
    }
    expect(reply.result.structuredContent.content).toBe('said: next');
    const late = await send(call, answer(asked, accept));
    expect(late.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('counts as denied') }, {}],
      structuredContent: { threadId: thread },
    });
  });
});

describe('a parked thread', () => {
  test('refuses a reply at once and names the open question, in both eras', async () => {
    const asked = await send(call);
    const { thread } = JSON.parse(Buffer.from(asked.result.requestState.split('.')[0], 'base64url').toString());
    const args = { threadId: thread, prompt: 'hello?' };
    const modern = await send({ tool: 'codex-reply', arguments: args });
    await local.client.initialize();
    const legacy = await local.client.call('codex-reply', args);
    for (const { result } of [modern, legacy]) {
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('run `touch made.txt`') }, { text: `threadId: ${thread}` }],
        structuredContent: { threadId: thread },
      });
    }
    expect(decided(await send(call, answer(asked, accept)))).toEqual([{ type: 'approved' }]);
    expect((await send({ tool: 'codex-reply', arguments: args })).result.structuredContent.content).toBe(
      'said: hello?',
    );
  });

  test('does not keep the server from closing', async () => {
    await send(call);
    await expect(local.server.close()).resolves.toBeUndefined();
  });
});
