/** Clients of two generations, over the pipes of a real process. */
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../support/scripted-threads.js';
import { buildFixture, type Fixture } from './fixture-process.js';
import { startServer } from './local-server.js';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await buildFixture();
});
afterAll(() => fixture.remove());

type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> };
type Asked = { message: string; properties: string[] };

/** What the tests need of a client, whatever its generation. */
type AnyClient = {
  /** What it answers to questions. */
  reply: Reply;
  readonly asked: Asked[];
  close(): Promise<void>;
  listTools(): Promise<unknown[]>;
  call(tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<Record<string, unknown>>;
};
type CallOptions = { onprogress?: (progress: { progress: number; message?: string }) => void; signal?: AbortSignal };

/** The part that both generations share: what is asked, and what is replied. */
function questions() {
  const state = { reply: accept, asked: [] as Asked[] };
  const onQuestion = ({ params }: { params: { message: string } }) => {
    state.asked.push({ message: params.message, properties: propertiesOf(params) });
    return state.reply;
  };
  return { state, onQuestion };
}

async function connectSecond(versionNegotiation: ClientOptions['versionNegotiation']): Promise<AnyClient> {
  const { state, onQuestion } = questions();
  const client = new Client(
    { name: 'second', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation },
  );
  client.setRequestHandler('elicitation/create', onQuestion);
  await client.connect(new StdioClientTransport({ command: process.execPath, args: fixture.args(), stderr: 'ignore' }));
  return Object.assign(state, {
    close: () => client.close(),
    listTools: async () => (await client.listTools()).tools,
    call: (name: string, args: Record<string, unknown>, options?: CallOptions) =>
      client.callTool({ name, arguments: args }, options),
  });
}

async function connectFirst(): Promise<AnyClient> {
  const { state, onQuestion } = questions();
  const client = new FirstClient({ name: 'first', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, onQuestion);
  await client.connect(new FirstTransport({ command: process.execPath, args: fixture.args(), stderr: 'ignore' }));
  return Object.assign(state, {
    close: () => client.close(),
    listTools: async () => (await client.listTools()).tools,
    call: (name: string, args: Record<string, unknown>, options?: CallOptions) =>
      client.callTool({ name, arguments: args }, undefined, options),
  });
}

function propertiesOf(params: object): string[] {
  return 'requestedSchema' in params ? Object.keys((params.requestedSchema as { properties: object }).properties) : [];
}

const accept: Reply = { action: 'accept', content: { decision: 'approved', note: 'fine' } };
const clients: [string, () => Promise<AnyClient>][] = [
  ['second generation, handshake', () => connectSecond({ mode: 'legacy' })],
  ['second generation, 2026-07-28', () => connectSecond({ mode: { pin: '2026-07-28' } })],
  ['second generation, by probing', () => connectSecond({ mode: 'auto' })],
  ['first generation', connectFirst],
];

describe.each(clients)('%s', (_name, connect) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());
  beforeEach(() => {
    client.reply = accept;
    client.asked.length = 0;
  });

  test('lists the tools as they are defined', async () => {
    const { client: raw, server } = startServer();
    await raw.initialize();
    expect(await client.listTools()).toEqual((await raw.request('tools/list')).result.tools);
    await server.close();
  });

  test('runs a turn with commands and a patch, and continues it', async () => {
    const patch = { '/w/a.txt': { type: 'add' as const, content: 'x\n' } };
    const prompt = script({ command: 'ls', output: 'a\n' }, { patch }, { say: 'all done', chunks: 4 });
    const first = await client.call('codex', { prompt });
    const { threadId } = first.structuredContent as { threadId: string };
    const usage = {
      input_tokens: 100,
      cached_input_tokens: 0,
      cache_write_input_tokens: 0,
      output_tokens: 0,
      reasoning_output_tokens: 0,
      total_tokens: 100,
    };
    expect(first).toMatchObject({
      content: [
        { type: 'text', text: 'all done' },
        { type: 'text', text: `threadId: ${threadId}` },
      ],
      structuredContent: { threadId, content: 'all done', status: 'completed', usage, changes: patch },
    });
    expect(first.isError ?? false).toBe(false);
    const second = await client.call('codex-reply', { threadId, prompt: 'and now' });
    expect(second.structuredContent).toEqual({
      threadId,
      content: 'said: and now',
      status: 'completed',
      usage: { ...usage, input_tokens: 200, total_tokens: 200 },
    });
  });

  test('is asked for approvals, several of them, and the turn goes on', async () => {
    const ask = { reason: 'needed' };
    const patch = { '/w/a.txt': { type: 'add' as const, content: 'x\n' } };
    const prompt = script({ command: 'touch x', ask }, { patch, ask }, { decisions: true });
    const { structuredContent } = await client.call('codex', { prompt });
    expect(JSON.parse((structuredContent as { content: string }).content)).toEqual([
      { type: 'approved', note: 'fine' },
      { type: 'approved', note: 'fine' },
    ]);
    expect(client.asked).toEqual([
      { message: expect.stringContaining('touch x'), properties: ['decision', 'note'] },
      { message: expect.stringContaining('A a.txt (+1)'), properties: ['decision', 'note'] },
    ]);
  });

  test('may decline, and gets a normal answer', async () => {
    client.reply = { action: 'decline' };
    const result = await client.call('codex', { prompt: script({ command: 'x', ask: {} }, { decisions: true }) });
    expect(JSON.parse((result.structuredContent as { content: string }).content)).toMatchObject([{ type: 'denied' }]);
  });

  test('sees progress before the result', async () => {
    const seen: string[] = [];
    const prompt = script({ command: 'npm test' }, { wait: 20 }, { say: 'x' });
    await client.call('codex', { prompt }, { onprogress: ({ message }) => seen.push(message ?? '') });
    expect(seen.slice(0, 3)).toEqual(['starting', 'thinking', 'running: npm test']);
  });

  test('can cancel, and go on with other calls', async () => {
    const stop = new AbortController();
    const cancelled = client.call(
      'codex',
      { prompt: script({ wait: -1 }) },
      {
        signal: stop.signal,
        onprogress: ({ message }) => {
          if (message === 'thinking') stop.abort('enough');
        },
      },
    );
    await expect(cancelled).rejects.toThrow(/enough|abort|cancel/i);
    const after = await client.call('codex', { prompt: 'x' });
    expect(after.structuredContent).toMatchObject({ content: 'said: x' });
  });

  test('gets errors as results', async () => {
    expect(await client.call('codex', { prompt: 'x', sandbx: 1 })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('"sandbx"') }],
    });
  });
});
