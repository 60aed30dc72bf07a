import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../support/scripted-threads.js';
import { type LocalServer, startServer } from './local-server.js';

let local: LocalServer;
beforeEach(async () => {
  local = startServer();
  await local.client.initialize();
});
afterEach(() => local.server.close());

const UNKNOWN_ID = '019fffff-ffff-7fff-8fff-ffffffffffff';

test.each<[string, unknown, RegExp]>([
  ['codex', undefined, /`codex`.*`prompt`/],
  ['codex', null, /`prompt`/],
  ['codex', 'text', /must be an object, got a string/],
  ['codex', [1], /must be an object, got an array/],
  ['codex', {}, /`prompt` is missing/],
  ['codex', { model: 'm' }, /`prompt` is missing/],
  ['codex', { prompt: null }, /`prompt` is missing/],
  ['codex', { prompt: ' \n' }, /`prompt` is empty/],
  ['codex', { prompt: 42 }, /`prompt` must be a string, got a number/],
  ['codex', { prompt: ['a'] }, /`prompt` must be a string, got an array/],
  ['codex', { prompt: 'x', approvalPolicy: 'never' }, /"approvalPolicy".*`approval-policy`/],
  ['codex', { prompt: 'x', a: 1, b: 2 }, /Unknown arguments "a", "b"/],
  ['codex', { prompt: 'x', sandbox: 'read_only' }, /`sandbox` must be one of `read-only`.*got "read_only"/],
  ['codex', { prompt: 'x', 'approval-policy': 'on-failure' }, /`untrusted`, `on-request`, `never`/],
  ['codex', { prompt: 'x', sandbox: 1 }, /got a number/],
  ['codex', { prompt: 'x', config: 'model=1' }, /`config` must be an object/],
  ['codex', { prompt: 'x', cwd: true }, /`cwd` must be a string, got a boolean/],
  ['codex', { prompt: 'x', cwd: '/missing' }, /^cwd: \/missing does not exist\.$/],
  ['codex', { prompt: 'x', model: 'unstartable' }, /could not be started: MCP server mustone/],
  ['codex-reply', { prompt: 'x' }, /`threadId` is missing/],
  ['codex-reply', { threadId: UNKNOWN_ID }, /`prompt` is missing/],
  ['codex-reply', { prompt: '', threadId: UNKNOWN_ID }, /`prompt` is empty/],
  ['codex-reply', { prompt: 'x', threadId: 7 }, /`threadId` must be a string/],
  ['codex-reply', { prompt: 'x', threadId: 'abc' }, /must be the id of a thread .*"abc"/],
  ['codex-reply', { prompt: 'x', threadId: UNKNOWN_ID }, new RegExp(UNKNOWN_ID)],
  ['codex-reply', { prompt: 'x', threadId: UNKNOWN_ID, sandbox: 'read-only' }, /"sandbox".*`codex-reply`/],
])('%s with %j is refused by name', async (tool, args, message) => {
  const { result } = await local.client.call(tool, args);
  expect(result).toEqual({ content: [{ type: 'text', text: expect.stringMatching(message) }], isError: true });
});

describe('good arguments', () => {
  test('all of them reach the configuration, and absent ones are absent', async () => {
    const config = { model: 'other', 'a.b': { c: [1] } };
    await local.client.call('codex', {
      prompt: 'a',
      cwd: '/w/sub',
      model: 'm2',
      'approval-policy': 'untrusted',
      sandbox: 'danger-full-access',
      config,
      'base-instructions': 'b',
      'developer-instructions': 'd',
      'compact-prompt': 'c',
    });
    await local.client.call('codex', { prompt: 'b', config: null, cwd: null, sandbox: null });
    expect(local.calls).toEqual([
      {
        prompt: 'a',
        cwd: '/w/sub',
        model: 'm2',
        approvalPolicy: 'untrusted',
        sandbox: 'danger-full-access',
        config,
        baseInstructions: 'b',
        developerInstructions: 'd',
        compactPrompt: 'c',
      },
      { prompt: 'b' },
    ]);
  });

  test('a thread is found by every spelling of its id', async () => {
    const first = await local.client.call('codex', { prompt: 'a' });
    const id: string = first.result.structuredContent.threadId;
    const spellings = [
      { threadId: id },
      { conversationId: id },
      { threadId: id, conversationId: UNKNOWN_ID },
      { threadId: id.toUpperCase() },
      { threadId: `urn:uuid:${id}` },
      { threadId: ` ${id.replaceAll('-', '')} ` },
    ];
    for (const spelling of spellings) {
      const { result } = await local.client.call('codex-reply', { prompt: 'b', ...spelling });
      expect(result.structuredContent).toMatchObject({ threadId: id, content: 'said: b' });
    }
  });

  test('replies to a busy thread wait in order, and each gets its own answer', async () => {
    const { result } = await local.client.call('codex', { prompt: 'a' });
    const { threadId } = result.structuredContent;
    const answers = await Promise.all(
      ['p1', 'p2', 'p3'].map((prompt, i) =>
        local.client.call('codex-reply', { threadId, prompt: script({ wait: 30 - 10 * i }, { say: prompt }) }),
      ),
    );
    expect(answers.map(answer => answer.result.structuredContent.content)).toEqual(['p1', 'p2', 'p3']);
  });
});
