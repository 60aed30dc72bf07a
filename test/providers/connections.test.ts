/** The way to a provider: proxies, own certificates, streams that are closed. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createConnections, createProvider } from '../../src/providers/index.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { collect, DEPS, requestFor, settingsFor } from './support.js';
import { WIRES } from './wires.js';

const OK = WIRES[0]?.stream([{ say: 'ok' }]) ?? [];
const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name);

const ask = async (base_url: string, env: Record<string, string>, changes: object = {}) => {
  const settings = settingsFor({ base_url, ...changes });
  const connections = createConnections(env);
  try {
    const provider = createProvider(settings, { ...DEPS, env, connections });
    return await collect(provider.stream(requestFor(settings), new AbortController().signal));
  } finally {
    connections.close();
  }
};

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listen = (server: Server) => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));

describe('a proxy', () => {
  let server: ModelServer;
  let proxy: Server;
  let seen: string[];

  beforeEach(async () => {
    server = await startModelServer();
    server.reply({ stream: OK });
    seen = [];
    proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
      forward(request).then(
        answer => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
          response.on('close', () => answer.destroy());
        },
        () => response.writeHead(502).end(),
      );
    });
    proxy.on('connect', (request, socket, head) => {
      seen.push(`CONNECT ${request.url}`);
      const [host, port] = (request.url ?? '').split(':');
      const target = connect(Number(port), host ?? '', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        target.write(head);
        target.pipe(socket).pipe(target);
      });
      for (const end of [target, socket]) end.on('error', () => target.destroy());
    });
    await listen(proxy);
  });
  afterEach(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await server.close();
  });

  const forward = async (request: IncomingMessage): Promise<IncomingMessage> => {
    const { request: send } = await import('node:http');
    return await new Promise((resolve, reject) => {
      const sent = send(request.url ?? '', { method: request.method ?? 'GET', headers: request.headers }, resolve);
      sent.on('error', reject);
      request.pipe(sent);
    });
  };

  test('of HTTP_PROXY is used for http, with its password, and streams through', async () => {
    const HTTP_PROXY = `http://user:pass@127.0.0.1:${portOf(proxy)}`;
    const result = await ask(server.url, { HTTP_PROXY });
    expect(result.text).toBe('ok');
    expect(seen).toEqual([`POST ${server.url}/responses Basic ${Buffer.from('user:pass').toString('base64')}`]);
  });

  test.each(['http_proxy', 'ALL_PROXY', 'all_proxy'])('of %s, without a scheme', async name => {
    expect((await ask(server.url, { [name]: `127.0.0.1:${portOf(proxy)}` })).text).toBe('ok');
    expect(seen).toHaveLength(1);
  });

  test('is not used for hosts of NO_PROXY', async () => {
    const HTTP_PROXY = `http://127.0.0.1:${portOf(proxy)}`;
    expect((await ask(server.url, { HTTP_PROXY, NO_PROXY: 'example.test,127.0.0.1' })).text).toBe('ok');
    expect(seen).toEqual([]);
  });

  test('passes on errors, silence and interrupts', async () => {
    const env = { HTTP_PROXY: `http://127.0.0.1:${portOf(proxy)}` };
    server.reply({ status: 429, headers: { 'retry-after': '7200' }, body: { error: { message: 'later' } } });
    expect((await ask(server.url, env)).last).toMatchObject({
      error: { kind: 'rate_limited', retry_after_ms: 7_200_000 },
    });
    server.reply('silence');
    expect((await ask(server.url, env, { stream_idle_timeout_ms: 100 })).last).toMatchObject({
      error: { kind: 'connection_failed' },
    });
    server.reply({ stream: WIRES[0]?.stream([{ say: 'x' }], 'none') ?? [], ending: 'open' });
    const controller = new AbortController();
    const settings = settingsFor({ base_url: server.url });
    const provider = createProvider(settings, { ...DEPS, env });
    for await (const event of provider.stream(requestFor(settings), controller.signal)) {
      if (event.type === 'text.delta') controller.abort();
    }
    expect(await server.requests.at(-1)?.closed).toBe('cut');
  });

  test('that is no URL, and one that does not listen, are named', async () => {
    expect((await ask(server.url, { HTTP_PROXY: 'http://[' })).last).toMatchObject({
      error: { kind: 'configuration', message: expect.stringContaining('HTTP_PROXY') },
    });
    expect((await ask(server.url, { HTTP_PROXY: 'http://127.0.0.1:9' })).last).toMatchObject({
      error: { kind: 'connection_failed' },
    });
  });

  test('of HTTPS_PROXY tunnels https, with the certificate of SSL_CERT_FILE', async () => {
    const secure = await startTls();
    const env = { HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`, SSL_CERT_FILE: fixture('localhost-cert.pem') };
    expect((await ask(`https://localhost:${portOf(secure)}/v1`, env)).text).toBe('ok');
    expect(seen).toEqual([`CONNECT localhost:${portOf(secure)}`]);
    secure.closeAllConnections();
    secure.close();
  });
});

const startTls = async () => {
  const options = {
    key: readFileSync(fixture('localhost-key.pem')),
    cert: readFileSync(fixture('localhost-cert.pem')),
  };
  const secure = createTlsServer(options, (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(OK.join(''));
  });
  await listen(secure);
  return secure;
};

describe('an own certificate', () => {
  let secure: Server;
  let url: string;
  beforeEach(async () => {
    secure = await startTls();
    url = `https://localhost:${portOf(secure)}/v1`;
  });
  afterEach(() => {
    secure.closeAllConnections();
    secure.close();
  });

  test('of SSL_CERT_FILE is trusted', async () => {
    expect((await ask(url, { SSL_CERT_FILE: fixture('localhost-cert.pem') })).text).toBe('ok');
  });

  test('that nobody trusts is a final error that names the way out', async () => {
    const { last, events } = await ask(url, {}, { request_max_retries: 3 });
    expect(events).toHaveLength(1);
    expect(last).toMatchObject({
      error: { kind: 'connection_failed', retryable: false, message: expect.stringContaining('SSL_CERT_FILE') },
    });
  });

  test('whose file is missing is a configuration error', async () => {
    expect((await ask(url, { SSL_CERT_FILE: '/no/such/file.pem' })).last).toMatchObject({
      error: { kind: 'configuration', message: expect.stringContaining('/no/such/file.pem') },
    });
  });
});

test('a name with two addresses, neither of which listens, says why', async () => {
  const { last } = await ask('http://localhost:9/v1', {});
  expect(last).toMatchObject({
    error: { kind: 'connection_failed', message: expect.stringContaining('ECONNREFUSED') },
  });
});

test('a connection that the server closed while it was idle costs no attempt', async () => {
  const server = await startModelServer();
  server.reply({ stream: OK });
  const settings = settingsFor({ base_url: server.url });
  const connections = createConnections({});
  const provider = createProvider(settings, { ...DEPS, connections });
  const once = () => collect(provider.stream(requestFor(settings), new AbortController().signal));
  expect((await once()).text).toBe('ok');
  const idle = performance.now();
  await expect.poll(() => performance.now(), { timeout: 3000 }).toBeGreaterThan(idle + 1050);
  server.reply('reset', { stream: OK });
  const { events, text } = await once();
  expect(text).toBe('ok');
  expect(events.some(event => event.type === 'retry')).toBe(false);
  connections.close();
  await server.close();
});
