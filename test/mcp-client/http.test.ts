import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.js';
import { TestHttpServer } from './http-server.js';
import { http, McpWorld } from './support.js';

describe('a server over HTTP', () => {
  test('is called with its headers and its token, in one session, and is told when we leave', async () => {
    const server = await TestHttpServer.start([{ name: 'echo' }, { name: 'stream', as: 'events', progress: 2 }]);
    const world = new McpWorld();
    Object.assign(world.env, { TOKEN: 't0ken', WHO: 'me' });
    const headers = {
      http_headers: { 'x-a': 'b' },
      env_http_headers: { 'x-who': 'WHO' },
      bearer_token_env_var: 'TOKEN',
    };
    const thread = await world.thread([http(server.url, headers)]);
    expect((await thread.call('mcp__fk__echo', { a: 1 })).text).toBe('echo got {"a":1}');
    expect((await thread.call('mcp__fk__stream')).text).toBe('stream got {}');
    await world.close();
    for (const { headers: sent } of server.seen) {
      expect(sent).toMatchObject({ authorization: 'Bearer t0ken', 'x-a': 'b', 'x-who': 'me' });
    }
    expect(server.calls().every(({ params }) => params._meta.progressToken !== undefined)).toBe(true);
    expect(server.seen.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'session-1' } });
    expect(new Set(server.methods()).has('notifications/initialized')).toBe(true);
  });

  test('is shared by threads in all folders, and learns nothing about them', async () => {
    const server = await TestHttpServer.start();
    const world = new McpWorld();
    const servers = world.servers();
    await world.thread([http(server.url)], { servers });
    await world.thread([http(server.url)], { servers, cwd: world.root });
    const initialize = server.seen.filter(({ message }) => message?.method === 'initialize');
    expect(initialize).toHaveLength(1);
    expect(initialize[0]?.message?.params.capabilities).not.toHaveProperty('roots');
  });

  test('a variable that is missing is named', async () => {
    const server = await TestHttpServer.start();
    const world = new McpWorld();
    const thread = await world.thread([http(server.url, { bearer_token_env_var: 'NO_SUCH' })]);
    expect(thread.state('fk')).toBe('failed: the variable NO_SUCH, which holds its bearer token, is not set');
    expect(server.seen).toEqual([]);
  });

  test('that forgot the session gets a new one, and the call is made once more', async () => {
    const server = await TestHttpServer.start();
    const world = new McpWorld();
    const thread = await world.thread([http(server.url)]);
    server.forgetSession();
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
    expect(server.methods().filter(method => method === 'initialize')).toHaveLength(2);
  });

  test('that goes away fails the call, and is found again when it is back', async () => {
    const server = await TestHttpServer.start();
    const world = new McpWorld();
    const thread = await world.thread([http(server.url)]);
    await server.stop();
    expect((await thread.call('mcp__fk__echo')).text).toMatch(/ECONNREFUSED|other side closed|socket/i);
    server.forgetSession();
    await server.listen();
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
  });

  test.each([
    ['broken', 'the connection to the server ended before it had answered'],
    ['status 500', 'HTTP status 500: Error POSTing to endpoint: the database is gone'],
    ['page', 'Unexpected content type: text/html'],
  ] as const)('an answer that is none (%s) is a tool error', async (as, message) => {
    const server = await TestHttpServer.start([{ name: 't', as }]);
    const world = new McpWorld();
    const thread = await world.thread([http(server.url)]);
    expect((await thread.call('mcp__fk__t')).text).toContain(message);
  });

  test.each(['json', 'events'] as const)('answers of any size (%s) are taken up to a limit', async as => {
    const server = await TestHttpServer.start([{ name: 'huge', bytes: 70_000_000, as }, { name: 'echo' }]);
    const world = new McpWorld();
    const thread = await world.thread([http(server.url, {}, { tool_timeout_ms: 20_000 })]);
    expect((await thread.call('mcp__fk__huge')).text).toMatch(/larger than 64 MiB|ended before it had answered/);
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
  });

  test('that wants a login says so at the start, and that it wants more at the call', async () => {
    const server = await TestHttpServer.start();
    server.token = 'secret';
    const world = new McpWorld();
    Object.assign(world.env, { TOKEN: 'secret' });
    const thread = await world.thread([
      http(server.url),
      http(server.url, { bearer_token_env_var: 'TOKEN' }, { name: 'in' }),
    ]);
    await until(() => thread.state('fk').startsWith('failed'));
    expect(thread.state('fk')).toContain('it wants a login; log in with `interpreter mcp login fk`');
    server.wantsScope = 'read write';
    expect((await thread.call('mcp__in__echo')).text).toContain('`interpreter mcp login in --scopes read,write`');
  });

  test('is reached through the proxy of the environment', async () => {
    const server = await TestHttpServer.start();
    const asked: string[] = [];
    const proxy = await startProxy(asked);
    const world = new McpWorld();
    Object.assign(world.env, { HTTP_PROXY: proxy, NO_PROXY: 'elsewhere.test' });
    const thread = await world.thread([http(server.url)]);
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
    expect(asked.length).toBeGreaterThan(0);
  });
});

/** Passes requests on, whether they are asked for plainly or through a tunnel. */
async function startProxy(asked: string[]): Promise<string> {
  const proxy: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { host, pathname } = new URL(request.url ?? '');
    const [hostname, port] = host.split(':');
    void import('node:http').then(({ request: send }) => {
      const onward = send(
        { hostname, port, path: pathname, method: request.method, headers: request.headers },
        answer => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      request.pipe(onward);
    });
  });
  proxy.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    const [host, port] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [onward, socket]) one.on('error', () => {});
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
