/** A model on loopback that speaks just enough of the Responses wire API. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** `requestedAt`: when each request had arrived whole, `performance.now()`. `ms`: the time spent in the model so far. */
export type BenchModel = { readonly url: string; readonly requestedAt: number[]; ms: number; close(): void };

type Input = { readonly type: string };

/** `says`: the items of the answer to a request with this history. `delayMs`: how long it thinks. */
export async function startModel(
  says: (input: readonly Input[]) => readonly object[],
  delayMs = 0,
): Promise<BenchModel> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') return response.writeHead(404).end();
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const arrived = performance.now();
    model.requestedAt.push(arrived);
    const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: Input[] };
    const body = answer(says(input));
    if (delayMs > 0) await sleep(delayMs);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    model.ms += performance.now() - arrived;
    return response.end(body);
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model: BenchModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requestedAt: [],
    ms: 0,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return model;
}

function answer(items: readonly object[]): string {
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
  const events = [
    { type: 'response.created', response: { id: 'r' } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: items, usage } },
  ];
  return events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

export const say = (text: string): object => ({
  type: 'message',
  id: `msg_${Math.random().toString(36).slice(2)}`,
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});

/** A command; `id` tells it from the others of a thread. */
export const command = (cmd: string, id: string): object => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name: 'exec_command',
  arguments: JSON.stringify({ cmd, login: false }),
});
