import { describe, expect, test } from 'vitest';
import type { ApprovalDecision } from '../../src/protocol/index.js';
import type { ServerQuestion } from '../../src/tools/index.js';
import { until } from '../support/until.js';
import { McpWorld } from './support.js';

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } },
  required: ['name'],
};

async function asked(tool: object, decision: ApprovalDecision | null) {
  const world = new McpWorld();
  const thread = await world.thread([world.scripted({ tools: [{ name: 't', ...tool }] }, { tool_timeout_ms: 500 })]);
  const questions: ServerQuestion[] = [];
  const ask = (question: ServerQuestion) => {
    questions.push(question);
    return Promise.resolve(decision ?? { type: 'denied' as const, by: 'policy' as const, reason: '' });
  };
  const { text } = await thread.call('mcp__fk__t', {}, decision === null ? {} : { ask });
  const { result, error } = JSON.parse(text) as { result?: unknown; error?: { code: number } };
  return { questions, result, code: error?.code };
}

const FORM = { ask: { message: 'Who?', requestedSchema: SCHEMA } };

describe('a question of a server during a call', () => {
  test('reaches the person, and the answer the server; what has a default may be left out', async () => {
    const { questions, result } = await asked(FORM, { type: 'approved', content: { name: 'Ada', nested: {} } });
    expect(questions).toEqual([{ server: 'fk', message: 'Who?', requested_schema: SCHEMA }]);
    expect(result).toEqual({ action: 'accept', content: { name: 'Ada', size: 3 } });
  });

  test.each([
    ['a person says no', { type: 'denied', by: 'person', reason: '' }, 'decline'],
    ['nobody answers', { type: 'denied', by: 'timeout', reason: '' }, 'cancel'],
    ['the policy lets no questions through', { type: 'denied', by: 'policy', reason: '' }, 'cancel'],
    ['the turn is ended', { type: 'abort' }, 'cancel'],
    ['nobody is there', null, 'cancel'],
  ] as const)('when %s', async (_, decision, action) => {
    expect((await asked(FORM, decision)).result).toEqual({ action });
  });

  test('may be an address to open', async () => {
    const url = { ask: { mode: 'url', message: 'Sign in', url: 'https://x.test/a', elicitationId: '1' } };
    const { questions, result } = await asked(url, { type: 'approved' });
    expect(questions).toEqual([
      { server: 'fk', message: 'Sign in\n\nOpen this address to go on: https://x.test/a', requested_schema: null },
    ]);
    expect(result).toEqual({ action: 'accept' });
  });

  test('holds the time limit of the call', async () => {
    const world = new McpWorld();
    const settings = world.scripted({ tools: [{ name: 't', ...FORM }] }, { tool_timeout_ms: 300 });
    const thread = await world.thread([settings]);
    const slow = () =>
      new Promise<ApprovalDecision>(resolve =>
        setTimeout(() => resolve({ type: 'approved', content: { name: 'x' } }), 700),
      );
    expect((await thread.call('mcp__fk__t', {}, { ask: slow })).text).toContain('"accept"');
  });
});

describe('what else a server may ask for', () => {
  test('its roots are the folders that its arguments name, else that of the thread', async () => {
    const world = new McpWorld();
    const tools = [{ name: 't', request: 'roots/list' }];
    const named = world.scripted({ tools }, { name: 'named' });
    if (named.transport.type !== 'stdio') throw new Error('no program');
    const withFolder = { ...named, transport: { ...named.transport, args: [...named.transport.args, world.root] } };
    const thread = await world.thread([world.scripted({ tools }), withFolder]);
    const roots = async (name: string) => (JSON.parse((await thread.call(name)).text) as { result: unknown }).result;
    expect(await roots('mcp__fk__t')).toEqual({ roots: [{ uri: `file://${world.cwd}`, name: world.cwd }] });
    expect(await roots('mcp__named__t')).toEqual({ roots: [{ uri: `file://${world.root}`, name: world.root }] });
    const initialize = await until(() => world.seen().find(line => line['method'] === 'initialize'));
    expect(initialize['params'].capabilities).toEqual({
      elicitation: { form: { applyDefaults: true }, url: {} },
      roots: {},
    });
  });

  test.each(['sampling/createMessage', 'no/such/method'])('%s is not offered', async method => {
    expect((await asked({ request: method }, null)).code).toBe(-32601);
  });

  test('ping is answered', async () => {
    expect((await asked({ request: 'ping' }, null)).result).toEqual({});
  });
});
