/** The answers that are given before the protocol library is loaded are the ones it gives. */
import { type JSONRPCMessage, Server, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { modernMeta } from './clients.js';
import type { Message } from './line-client.js';
import { type LocalServer, startServer } from './local-server.js';

let local: LocalServer;
beforeEach(() => {
  local = startServer();
});
afterEach(() => local.server.close());

/** A server of the library with the identity and tools of ours, answering `messages` one after the other. */
async function libraryAnswers(messages: object[]): Promise<Message[]> {
  const about = await ourDescription();
  const answers: Message[] = [];
  const waiting: (() => void)[] = [];
  const wire: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: message => {
      // As it goes over the wire: the library keeps notes of its own on the object.
      answers.push(JSON.parse(JSON.stringify(message)));
      waiting.shift()?.();
      return Promise.resolve();
    },
  };
  const handle = serveStdio(
    () => {
      const server = new Server(about.serverInfo, {
        capabilities: { tools: {} },
        instructions: about.instructions,
        cacheHints: { 'server/discover': about.cacheHint, 'tools/list': about.cacheHint },
      });
      server.setRequestHandler('tools/list', () => ({ tools: about.tools }));
      return server;
    },
    { transport: wire },
  );
  for (const message of messages) {
    const answered = new Promise<void>(resolve => waiting.push(resolve));
    wire.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
    await answered;
  }
  await handle.close();
  return answers;
}

/** What another server needs to describe itself like ours. */
async function ourDescription() {
  const other = startServer();
  const { serverInfo, instructions } = (await other.client.initialize()).result;
  const { tools, ttlMs, cacheScope } = (await other.client.request('tools/list', { _meta: modernMeta() })).result;
  await other.server.close();
  return { serverInfo, instructions, tools, cacheHint: { ttlMs, cacheScope } };
}

async function ourAnswers(messages: { id: number; method: string; params: object }[]): Promise<Message[]> {
  const answers = [];
  for (const { id, method, params } of messages) answers.push(await local.client.request(method, params, id));
  return answers;
}

test('a handshake and what follows are answered as the library does it', async () => {
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'a', version: '1' },
  };
  const messages = [
    { id: 1, method: 'initialize', params: hello },
    { id: 2, method: 'tools/list', params: {} },
    { id: 3, method: 'ping', params: {} },
  ];
  expect(await ourAnswers(messages)).toEqual(await libraryAnswers(messages));
});

test('requests without a handshake are answered as the library does it', async () => {
  const messages = [
    { id: 1, method: 'server/discover', params: { _meta: modernMeta() } },
    { id: 2, method: 'tools/list', params: { _meta: modernMeta() } },
  ];
  expect(await ourAnswers(messages)).toEqual(await libraryAnswers(messages));
});

test('a version that is not spoken is refused as the library does it', async () => {
  const messages = [{ id: 1, method: 'tools/list', params: { _meta: modernMeta({}, '1900-01-01') } }];
  expect(await ourAnswers(messages)).toEqual(await libraryAnswers(messages));
});
