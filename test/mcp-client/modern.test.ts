import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import type { Span } from '../../src/util/index.js';
import { until } from '../support/until.js';
import { http, McpWorld } from './support.js';

const program = path.join(import.meta.dirname, '../fixtures/mcp-servers/modern.mjs');

describe('the protocol of 2026-07-28', () => {
  test('is spoken with a program that offers it, in the one process that is started', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.program([program])]);
    expect(thread.names().toSorted()).toEqual(['ask', 'era', 'grow', 'meta'].map(name => `mcp__fk__${name}`));
    expect((await thread.call('mcp__fk__era')).text).toBe('modern');
  });

  test('a question comes as a result; the call is repeated with the answer', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.program([program])]);
    const questions: string[] = [];
    const { text } = await thread.call(
      'mcp__fk__ask',
      {},
      {
        ask: ({ message }) => {
          questions.push(message);
          return Promise.resolve({ type: 'approved', content: { colour: 'blue' } });
        },
      },
    );
    expect(questions).toEqual(['Which colour?']);
    expect(text).toBe('chosen: blue');
  });

  test('new tools are told about', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.program([program])]);
    await thread.call('mcp__fk__grow');
    await until(() => thread.names().includes('mcp__fk__grown'));
    expect((await thread.call('mcp__fk__grown')).text).toBe('grown');
  });

  test('the trace of the call goes with it', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.program([program])]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const span = { context: () => ({ traceparent, tracestate: 'a=b' }) } as Span;
    const { text } = await thread.call('mcp__fk__meta', {}, { span });
    expect(JSON.parse(text)).toMatchObject({ traceparent, tracestate: 'a=b' });
  });

  test('is spoken over HTTP', async () => {
    const url = await startModernHttp();
    const world = new McpWorld();
    const thread = await world.thread([http(url)]);
    expect((await thread.call('mcp__fk__era')).text).toBe('modern');
    expect((await thread.call('mcp__fk__add', { a: 2, b: 3 })).text).toBe('5');
  });
});

async function startModernHttp(): Promise<string> {
  const handler = createMcpHandler(({ era }) => {
    const server = new McpServer({ name: 'modern-http', version: '1.0.0' });
    server.registerTool('era', { inputSchema: z.object({}) }, () => ({ content: [{ type: 'text', text: era }] }));
    server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }));
    return server;
  });
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1${request.url}`, { method: request.method ?? 'GET', headers, ...body }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) Readable.fromWeb(answer.body as never).pipe(response);
      else response.end();
    })();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
