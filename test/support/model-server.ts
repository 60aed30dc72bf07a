/** A model server on loopback that answers as told: statuses, event streams in any pieces, silence, broken connections. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Whatever a program sent: tests look into it as they like. */
export type Body = Record<string, ReturnType<typeof JSON.parse>>;

export type ReceivedRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Resolves when the connection of this request was closed or its answer was sent. */
  readonly closed: Promise<'answered' | 'cut'>;
};

export type Reply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  /** The connection is reset without an answer. */
  | 'reset'
  /** Nothing is ever answered. */
  | 'silence'
  | {
      readonly stream: readonly (string | Buffer)[];
      readonly headers?: Record<string, string>;
      /** `end` (default): the body ends; `reset`: the connection does; `open`: nothing more comes. */
      readonly ending?: 'end' | 'reset' | 'open';
    };

export type ModelServer = {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** Connections that were ever opened. */
  readonly connections: () => number;
  /** Replies in order; the last one repeats. */
  reply(...replies: (Reply | ((request: ReceivedRequest) => Reply))[]): void;
  close(): Promise<void>;
};

export async function startModelServer(): Promise<ModelServer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let replies: readonly (Reply | ((request: ReceivedRequest) => Reply))[] = [];
  let opened = 0;
  let answered = 0;

  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', piece => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString('utf8');
      const closed = new Promise<'answered' | 'cut'>(resolve => {
        response.on('close', () => resolve(response.writableFinished ? 'answered' : 'cut'));
      });
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body: text ? JSON.parse(text) : {},
        closed,
      };
      requests.push(received);
      const next = replies[Math.min(answered++, replies.length - 1)] ?? { status: 500 };
      void answer(response, typeof next === 'function' ? next(received) : next);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', socket => {
    opened++;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    connections: () => opened,
    reply(...next) {
      replies = next;
      answered = 0;
    },
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply === 'silence') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if ('status' in reply) {
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(text);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
  for (const piece of reply.stream) await new Promise<void>(resolve => response.write(piece, () => resolve()));
  switch (reply.ending ?? 'end') {
    case 'end':
      response.end();
      return;
    case 'reset':
      // The client has to see what was sent before the reset.
      setImmediate(() => response.socket?.resetAndDestroy());
      return;
    case 'open':
      return;
  }
}

/** One server-sent event. A text goes out as it is; objects as JSON, with their `type` as the event's name if `named`. */
export function sse(data: unknown, named = false): string {
  const name =
    named && typeof data === 'object' && data !== null && 'type' in data ? `event: ${String(data.type)}\n` : '';
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
