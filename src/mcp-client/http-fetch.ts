/**
 * `fetch` for servers over HTTP; loaded with the first of them. Node's own ends an answer after 300 s without data and
 * knows no proxies; this one does neither, and bounds what one message may hold.
 */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { FetchLike } from '@modelcontextprotocol/client';
import undici from 'undici';
import type { Env } from '../util/index.js';

/** Of one JSON body, or of one line of an event stream. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 30_000;
const NEWLINE = 10;

export interface Http {
  readonly fetch: FetchLike;
  close(): void;
}

/** `env` is read for HTTP_PROXY, HTTPS_PROXY, NO_PROXY (either case) and SSL_CERT_FILE. */
export function openHttp(env: Env): Http {
  const agent = openAgent(env);
  return {
    fetch: async (url, init) => {
      const response = await undici.fetch(url, { ...(init as undici.RequestInit), dispatcher: agent });
      const { status, statusText, headers } = response;
      // The SDK tells a response by Node's own class, of which those of this package are none.
      return new Response(boundedBody(response), { status, statusText, headers: [...headers] });
    },
    close: () => {
      // Nobody waits for a pool to close; what it held is gone either way.
      agent.destroy().catch(() => {});
    },
  };
}

function openAgent(env: Env): undici.Dispatcher {
  const ca = env.SSL_CERT_FILE ? [...rootCertificates, readFileSync(env.SSL_CERT_FILE, 'utf8')] : undefined;
  const options = {
    // The time limits are those of the call.
    bodyTimeout: 0,
    headersTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(ca ? { ca } : {}) },
  };
  const all = env.ALL_PROXY ?? env.all_proxy ?? '';
  const httpProxy = env.HTTP_PROXY ?? env.http_proxy ?? all;
  const httpsProxy = env.HTTPS_PROXY ?? env.https_proxy ?? all;
  if (httpProxy === '' && httpsProxy === '') return new undici.Agent(options);
  return new undici.EnvHttpProxyAgent({
    ...options,
    httpProxy,
    httpsProxy,
    noProxy: env.NO_PROXY ?? env.no_proxy ?? '',
    proxyTunnel: false,
    ...(ca ? { requestTls: { ca }, proxyTls: { ca } } : {}),
  });
}

function boundedBody({ body, headers }: undici.Response): ReadableStream | null {
  if (body === null) return null;
  const isStream = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lineStart = isStream ? chunk.lastIndexOf(NEWLINE) : -1;
      bytes = lineStart < 0 ? bytes + chunk.length : chunk.length - lineStart - 1;
      if (bytes > MAX_MESSAGE_BYTES) {
        controller.error(new Error(`the answer is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`));
      } else controller.enqueue(chunk);
    },
  });
  return body.pipeThrough(limit);
}
