/** A collector on loopback: takes OTLP over HTTP (JSON, protobuf) or gRPC, reads it, and keeps every byte it was sent. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import protobuf from 'protobufjs';

export type Values = Record<string, string | number | boolean | string[]>;
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** "" for a root. */
  parentId: string;
  name: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  failed: boolean;
  traceState: string;
  attributes: Values;
};
export type ReceivedLog = { event: string; traceId: string; spanId: string; attributes: Values };
export type ReceivedPoint = { name: string; unit: string; attributes: Values; value: number; count: number };

export type Receiver = {
  /** Without a path. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly logs: ReceivedLog[];
  readonly points: ReceivedPoint[];
  /** Attributes of the resources, one per request. */
  readonly resources: Values[];
  /** Path, content type and headers of each request. */
  readonly requests: { path: string; type: string; headers: IncomingHttpHeaders }[];
  /** All bodies, one after the other, byte for byte. */
  readonly bytes: () => string;
  readonly connections: () => number;
  close(): Promise<void>;
};

/** `silent`: takes everything and never answers. */
export type ReceiverOptions = { readonly protocol: 'http' | 'grpc'; readonly silent?: boolean };

export async function startReceiver({ protocol, silent = false }: ReceiverOptions): Promise<Receiver> {
  const kept = new Kept();
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = protocol === 'http' ? httpServer(kept, silent) : grpcServer(kept, silent);
  server.on('connection', (socket: Socket) => {
    opened++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: kept.spans,
    logs: kept.logs,
    points: kept.points,
    resources: kept.resources,
    requests: kept.requests,
    bytes: () => Buffer.concat(kept.bodies).toString('latin1'),
    connections: () => opened,
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function httpServer(kept: Kept, silent: boolean) {
  return createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', piece => pieces.push(piece));
    request.on('end', () => {
      const type = request.headers['content-type'] ?? '';
      const body = Buffer.concat(pieces);
      kept.requests.push({ path: request.url ?? '', type, headers: request.headers });
      kept.take(signalOf(request.url ?? ''), body, type.includes('json'));
      if (silent) return;
      response.writeHead(200, { 'content-type': type });
      response.end(type.includes('json') ? '{}' : '');
    });
  });
}

function grpcServer(kept: Kept, silent: boolean) {
  const server = createHttp2Server();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const pieces: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      const path = String(headers[':path']);
      kept.requests.push({ path, type: String(headers['content-type']), headers });
      // A flag for compression, four bytes of length, the message.
      kept.take(signalOf(path), Buffer.concat(pieces).subarray(5), false);
      if (silent) return;
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
      stream.end(Buffer.alloc(5));
    });
  });
  return server;
}

type Signal = 'trace' | 'logs' | 'metrics';

function signalOf(path: string): Signal {
  if (/trace/i.test(path)) return 'trace';
  return /log/i.test(path) ? 'logs' : 'metrics';
}

// oxlint-disable-next-line typescript/no-explicit-any -- decoded messages are looked into as they come
type Decoded = any;

class Kept {
  readonly spans: ReceivedSpan[] = [];
  readonly logs: ReceivedLog[] = [];
  readonly points: ReceivedPoint[] = [];
  readonly resources: Values[] = [];
  readonly requests: Receiver['requests'] = [];
  readonly bodies: Buffer[] = [];
  readonly #types = protobuf.parse(readFileSync(join(import.meta.dirname, 'otlp.proto'), 'utf8')).root;

  take(signal: Signal, body: Buffer, json: boolean): void {
    this.bodies.push(body);
    const message = json ? JSON.parse(body.toString('utf8')) : this.#decode(signal, body);
    const id = (value: string | Uint8Array | undefined) =>
      typeof value === 'string' ? value : Buffer.from(value ?? []).toString('hex');
    switch (signal) {
      case 'trace':
        return this.#each(message.resourceSpans, 'scopeSpans', 'spans', span =>
          this.spans.push({
            traceId: id(span.traceId),
            spanId: id(span.spanId),
            parentId: id(span.parentSpanId),
            name: span.name,
            kind: span.kind,
            failed: span.status?.code === 2,
            traceState: span.traceState ?? '',
            attributes: values(span.attributes),
          }),
        );
      case 'logs':
        return this.#each(message.resourceLogs, 'scopeLogs', 'logRecords', log =>
          this.logs.push({
            event: log.eventName,
            traceId: id(log.traceId),
            spanId: id(log.spanId),
            attributes: values(log.attributes),
          }),
        );
      case 'metrics':
        return this.#each(message.resourceMetrics, 'scopeMetrics', 'metrics', metric => {
          for (const point of (metric.sum ?? metric.histogram).dataPoints) {
            this.points.push({
              name: metric.name,
              unit: metric.unit,
              attributes: values(point.attributes),
              value: Number(point.asInt ?? point.asDouble ?? point.sum),
              count: Number(point.count ?? 1),
            });
          }
        });
    }
  }

  #decode(signal: Signal, body: Buffer): Decoded {
    const name = signal === 'trace' ? 'Trace' : signal === 'logs' ? 'Logs' : 'Metrics';
    const type = this.#types.lookupType(`Export${name}ServiceRequest`);
    return type.toObject(type.decode(body), { longs: Number });
  }

  #each(resources: Decoded[], scopes: string, items: string, take: (item: Decoded) => void): void {
    for (const resource of resources) {
      this.resources.push(values(resource.resource.attributes));
      for (const scope of resource[scopes]) for (const item of scope[items]) take(item);
    }
  }
}

function values(attributes: Decoded[] | undefined): Values {
  return Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Decoded): Values[string] {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plain);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue);
}
