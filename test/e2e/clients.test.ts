/** Real clients of both protocol eras and both generations of the SDK call the built server: whole results. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROGRAM } from '../support/exec-world.js';
import { ANSWER_USAGE, answer } from '../support/scripted-answers.js';
import { outputs, type ServerWorld, serverWorld, userTexts } from './server-world.js';

type Result = Record<string, unknown>;
type Call = (tool: string, args: Result) => Promise<Result>;

const info = { name: 'test', version: '1' };

const clients: [string, (world: ServerWorld) => Promise<Call>][] = [
  ['SDK v2, handshake', world => second(world, { mode: 'legacy' })],
  ['SDK v2, 2026-07-28', world => second(world, { mode: { pin: '2026-07-28' } })],
  ['SDK v2, by probing', world => second(world, { mode: 'auto' })],
  ['SDK v1', first],
];

const transport = (world: ServerWorld) => ({
  command: process.execPath,
  args: [PROGRAM, 'mcp-server'],
  cwd: world.cwd,
  env: world.env(),
  stderr: 'ignore' as const,
});

async function second(
  world: ServerWorld,
  versionNegotiation: NonNullable<ConstructorParameters<typeof Client>[1]>['versionNegotiation'],
): Promise<Call> {
  const client = new Client(info, { capabilities: {}, versionNegotiation });
  await client.connect(new StdioClientTransport(transport(world)));
  onTestFinished(() => client.close());
  return (name, args) => client.callTool({ name, arguments: args });
}

async function first(world: ServerWorld): Promise<Call> {
  const client = new FirstClient(info);
  await client.connect(new FirstTransport(transport(world)));
  onTestFinished(() => client.close());
  return (name, args) => client.callTool({ name, arguments: args });
}

const usage = (answers: number) => ({
  input_tokens: ANSWER_USAGE.input_tokens * answers,
  cached_input_tokens: ANSWER_USAGE.cached_tokens * answers,
  cache_write_input_tokens: 0,
  output_tokens: ANSWER_USAGE.output_tokens * answers,
  reasoning_output_tokens: ANSWER_USAGE.reasoning_tokens * answers,
  total_tokens: (ANSWER_USAGE.input_tokens + ANSWER_USAGE.output_tokens) * answers,
});

const PATCH = `*** Begin Patch
*** Update File: greet.txt
@@
 one
-two
+TWO
*** Add File: new.txt
+made
*** Delete File: old.txt
*** Update File: from.txt
*** Move to: to.txt
@@
-a
+b
*** End Patch`;

describe.each(clients)('%s', (_name, connect) => {
  it('runs a call with commands and a patch, and a reply, with whole results', async () => {
    const world = await serverWorld([
      answer({ shell: 'cat greet.txt; exit 3' }, { think: 'it says two' }),
      answer({ patch: PATCH }),
      answer({ say: 'changed' }),
      answer({ say: 'again' }),
    ]);
    for (const [name, text] of [
      ['greet.txt', 'one\ntwo\n'],
      ['old.txt', 'gone\n'],
      ['from.txt', 'a\n'],
    ] as const) {
      world.write(`work/${name}`, text);
    }
    const call = await connect(world);
    const result = await call('codex', { prompt: 'change it', cwd: world.cwd });
    const { threadId } = result['structuredContent'] as { threadId: string };
    expect(threadId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]+$/);
    const file = (name: string) => path.join(world.cwd, name);
    const changes = {
      [file('greet.txt')]: { type: 'update', unified_diff: '@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n', move_path: null },
      [file('new.txt')]: { type: 'add', content: 'made\n' },
      [file('old.txt')]: { type: 'delete', content: 'gone\n' },
      [file('from.txt')]: { type: 'delete', content: 'a\n' },
      [file('to.txt')]: { type: 'add', content: 'b\n' },
    };
    expect(whole(result)).toEqual({
      content: [
        { type: 'text', text: 'changed' },
        { type: 'text', text: `threadId: ${threadId}` },
      ],
      structuredContent: { threadId, content: 'changed', status: 'completed', usage: usage(3), changes },
    });
    expect(readFileSync(file('greet.txt'), 'utf8')).toBe('one\nTWO\n');
    expect(outputs(world.server.requests[2]?.body)).toEqual([
      expect.stringMatching(/Process exited with code 3\nOriginal token count: 2\nOutput:\none\ntwo\n$/),
      expect.stringMatching(/^Exit code: 0\n[\s\S]*Success\. Updated the following files:\nA new\.txt\n/),
    ]);

    expect(whole(await call('codex-reply', { threadId, prompt: 'and now' }))).toEqual({
      content: [
        { type: 'text', text: 'again' },
        { type: 'text', text: `threadId: ${threadId}` },
      ],
      structuredContent: { threadId, content: 'again', status: 'completed', usage: usage(4) },
    });
    expect(userTexts(world.server.requests[3]?.body).slice(-2)).toEqual(['change it', 'and now']);
  });

  it('gets a failed turn as a result with the thread in it', async () => {
    const world = await serverWorld([
      { status: 400, body: { error: { message: 'Unsupported parameter: quux' } } },
      answer({ say: 'better' }),
    ]);
    const call = await connect(world);
    const result = await call('codex', { prompt: 'x' });
    const { threadId, content } = result['structuredContent'] as { threadId: string; content: string };
    expect(content).toContain('Unsupported parameter: quux');
    expect(whole(result)).toEqual({
      content: [
        { type: 'text', text: content },
        { type: 'text', text: `threadId: ${threadId}` },
      ],
      structuredContent: { threadId, content, status: 'failed', usage: usage(0) },
      isError: true,
    });
    const { structuredContent } = await call('codex-reply', { threadId, prompt: 'y' });
    expect(structuredContent).toMatchObject({ content: 'better', status: 'completed' });
  });
});

/** Without what a protocol revision adds for itself. */
function whole({ _meta, resultType, ...rest }: Result): Result {
  void _meta;
  void resultType;
  return rest;
}
