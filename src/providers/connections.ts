/**
 * HTTP for model requests: one pool of kept-alive connections.
 *
 * Plain `node:http(s)` and not `fetch` or the vendors' SDKs, which stand on it. The first request of a process costs some
 * two thirds of the CPU that it costs through `fetch`, and half of that through the `openai` package; a later one takes
 * half the time (bench/first-request.bench.ts). `fetch` also ends a body after 300 s without data, and the SDKs hide what
 * we have to see: raw events, bodies of errors in any form, errors in streams that began well. Their types are used.
 */
import type { Agent, ClientRequest, request as httpRequest, IncomingMessage } from 'node:http';
import { type Env, hasCode, onAbort } from '../util/index.js';
import { IdleError, SettingsError } from './errors.js';
import { flatHeaders, type HttpRequest, type HttpResponse } from './http.js';

/** Sends requests. Rejects with the network error; its owner calls `close`. */
export interface Connections {
  /** Loads what requests to such a URL need. Rejects with SettingsError. */
  prepare(url: URL): Promise<void>;
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

type Client = { send(request: HttpRequest): Promise<HttpResponse>; close(): void };

const CONNECT_TIMEOUT_MS = 30_000;
/** Idle connections are closed after this; servers keep them for about as long. */
const KEEP_ALIVE_MS = 60_000;
/** A connection that was idle for longer may be closed by the server just when it is used. */
const STALE_MS = 1000;

/**
 * A pool. `env` is read for HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY (either case) and SSL_CERT_FILE;
 * NODE_EXTRA_CA_CERTS is read by Node itself and added where SSL_CERT_FILE is set.
 */
export function createConnections(env: Env): Connections {
  const clients = new Map<string, Promise<Client>>();
  const clientFor = (protocol: string): Promise<Client> => {
    const known = clients.get(protocol);
    if (known) return known;
    const client = openClient(protocol, env);
    // A failure (an unreadable certificate file) may be put right while the process lives.
    client.catch(() => clients.delete(protocol));
    clients.set(protocol, client);
    return client;
  };
  return {
    async prepare(url) {
      await clientFor(url.protocol);
    },
    async send(request) {
      return (await clientFor(request.url.protocol)).send(request);
    },
    close() {
      for (const client of clients.values()) {
        client.then(
          open => open.close(),
          () => {}, // It never opened.
        );
      }
      clients.clear();
    },
  };
}

async function openClient(protocol: string, env: Env): Promise<Client> {
  const proxy = proxyFor(protocol, env);
  const tls = protocol === 'https:' || proxy !== null ? await import('./certificates.js') : null;
  const ca = tls?.certificateAuthorities(env);
  if (proxy !== null) {
    const { openProxyClient } = await import('./proxy.js');
    return openProxyClient({ proxy, noProxy: env.NO_PROXY ?? env.no_proxy ?? '', ca });
  }
  const options = {
    keepAlive: true,
    noDelay: true,
    timeout: KEEP_ALIVE_MS,
    scheduling: 'lifo' as const,
    // Node's default of 250 ms per address fails on slow links.
    autoSelectFamilyAttemptTimeout: 2000,
    ...(ca ? { ca } : {}),
  };
  if (protocol === 'https:') {
    const https = await import('node:https');
    const agent = new https.Agent(options);
    return directClient(https.request, agent);
  }
  const http = await import('node:http');
  return directClient(http.request, new http.Agent(options));
}

/** The proxy that the environment names for URLs of this protocol, or null. Throws SettingsError. */
function proxyFor(protocol: string, env: Env): string | null {
  const all = env.ALL_PROXY ?? env.all_proxy;
  const own = protocol === 'https:' ? (env.HTTPS_PROXY ?? env.https_proxy) : (env.HTTP_PROXY ?? env.http_proxy);
  const value = (own || all || '').trim();
  if (value === '') return null;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (URL.canParse(url)) return url;
  throw new SettingsError(
    `The proxy of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) is no URL; correct or unset it.`,
  );
}

type Requester = typeof httpRequest;

function directClient(requester: Requester, agent: Agent): Client {
  /** When the last answer of a connection ended. */
  const idleSince = new WeakMap<object, number>();
  const once = (request: HttpRequest) =>
    new Promise<HttpResponse>((resolve, reject) => {
      const body = Buffer.from(request.body);
      const sent = requester(request.url, {
        method: 'POST',
        agent,
        headers: { ...request.headers, 'content-length': String(body.length) },
      });
      const stop = guard(sent, request, reject);
      let idleMs = 0;
      sent.once('socket', socket => {
        idleMs = performance.now() - (idleSince.get(socket) ?? Number.POSITIVE_INFINITY);
      });
      sent.once('response', response => {
        stop.headers();
        resolve(answerOf(response));
        const { socket } = response;
        response.once('close', () => {
          stop.all();
          idleSince.set(socket, performance.now());
        });
      });
      sent.once('error', error => {
        stop.all();
        const stale = idleMs > STALE_MS && hasCode(error, 'ECONNRESET', 'EPIPE');
        reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
      });
      sent.end(body);
    });
  return {
    async send(request) {
      return await onceMoreIfStale(request, once);
    },
    close: () => agent.destroy(),
  };
}

/** A kept-alive connection broke that had been idle: the server may have closed it before it saw the request. */
class StaleConnection extends Error {}

async function onceMoreIfStale(
  request: HttpRequest,
  once: (request: HttpRequest) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  for (;;) {
    try {
      return await once(request);
    } catch (error) {
      if (!(error instanceof StaleConnection) || request.signal.aborted) throw error;
    }
  }
}

/** Ends a request on abort and at the time limits. `headers` stops the limits, `all` everything. */
function guard(sent: ClientRequest, request: HttpRequest, reject: (error: unknown) => void) {
  const wait = setTimeout(() => sent.destroy(new IdleError(request.headersTimeoutMs)), request.headersTimeoutMs);
  const release = onAbort(request.signal, () => {
    sent.destroy();
    reject(new Error('interrupted'));
  });
  let connecting: NodeJS.Timeout | undefined;
  sent.once('socket', socket => {
    if (!socket.connecting) return;
    const limit = () => sent.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`));
    connecting = setTimeout(limit, CONNECT_TIMEOUT_MS);
    socket.once('connect', () => clearTimeout(connecting));
  });
  const headers = () => {
    clearTimeout(wait);
    clearTimeout(connecting);
  };
  return {
    headers,
    all: () => {
      headers();
      release();
    },
  };
}

function answerOf(response: IncomingMessage): HttpResponse {
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: flatHeaders(response.headers),
    body: response,
  };
}
