import { readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type LogInOptions, LoginStore, logIn } from '../../src/mcp-client/index.js';
import type { McpServerSettings } from '../../src/protocol/index.js';
import { until } from '../support/until.js';
import { TestLogin } from './login-server.js';
import { http, McpWorld } from './support.js';

/** A person who opens the address and says yes. */
const browser = (url: string) => void fetch(url).catch(() => {});

function options(world: McpWorld, settings: McpServerSettings, more: Partial<LogInOptions> = {}): LogInOptions {
  if (settings.transport.type !== 'http') throw new Error('no http');
  return {
    name: settings.name,
    settings: settings.transport,
    home: world.home,
    env: world.env,
    version: '0.0.0',
    place: 'file',
    showUrl: browser,
    signal: new AbortController().signal,
    ...more,
  };
}

describe('logging in', () => {
  test('ends with a token that is used, in a file for the person alone', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const settings = http(login.mcp.url);
    expect(await logIn(options(world, settings))).toEqual({ place: 'file', scope: 'tools' });
    const thread = await world.thread([settings]);
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
    const file = `${world.home}/mcp-auth.json`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(login.mcp.token);
  });

  test('shows an address and goes on when the person comes back, whoever else knocks', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const shown: URL[] = [];
    const stranger = async (url: string) => {
      shown.push(new URL(url));
      const back = new URL(url).searchParams.get('redirect_uri') ?? '';
      expect((await fetch(`${back}?code=stolen&state=guessed`)).status).toBe(404);
      browser(url);
    };
    await logIn(options(world, http(login.mcp.url), { showUrl: url => void stranger(url) }));
    const query = shown[0]?.searchParams;
    expect(query?.get('code_challenge_method')).toBe('S256');
    expect(query?.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(query?.get('scope')).toBe('tools');
    expect(query?.get('resource')).toBe(login.mcp.url);
  });

  test('asks for what it is told to, as a client that was registered by hand', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    let shown = '';
    const more = {
      scopes: ['a', 'b'],
      client: { id: 'mine' },
      showUrl: (url: string) => {
        shown = url;
        browser(url);
      },
    };
    await logIn(options(world, http(login.mcp.url), more));
    expect(new URL(shown).searchParams.get('scope')).toBe('a b');
    expect(new URL(shown).searchParams.get('client_id')).toBe('mine');
    expect(login.asked).not.toContain('/register');
  });

  test('that is refused says why', async () => {
    const login = await TestLogin.start();
    login.refusal = 'access_denied';
    const world = new McpWorld();
    await expect(logIn(options(world, http(login.mcp.url)))).rejects.toThrow('the login was refused: access_denied');
  });

  test('can be given up', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const stop = new AbortController();
    const waiting = logIn(options(world, http(login.mcp.url), { showUrl: () => stop.abort(), signal: stop.signal }));
    await expect(waiting).rejects.toThrow('the login was given up');
  });

  test('to a server that is not there is told as such', async () => {
    const world = new McpWorld();
    const settings = http('http://127.0.0.1:1024/mcp');
    await expect(logIn(options(world, settings))).rejects.toThrow("http://127.0.0.1:1024/mcp can't be reached");
  });
});

describe('a login', () => {
  test('is renewed when its token has run out', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const settings = http(login.mcp.url);
    await logIn(options(world, settings));
    const thread = await world.thread([settings]);
    login.expireToken();
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
    expect(login.tokenRequests.map(form => form.grant_type)).toEqual(['authorization_code', 'refresh_token']);
    await world.close();
    const later = await world.thread([settings]);
    expect((await later.call('mcp__fk__echo')).text).toBe('echo got {}');
    expect(login.tokenRequests).toHaveLength(2);
  });

  test('is renewed once by two processes that need it at the same time', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const settings = http(login.mcp.url);
    await logIn(options(world, settings));
    const threads = [await world.thread([settings]), await world.thread([settings])];
    login.expireToken();
    const results = await Promise.all(threads.map(thread => thread.call('mcp__fk__echo')));
    expect(results.map(({ text }) => text)).toEqual(['echo got {}', 'echo got {}']);
    expect(login.tokenRequests).toHaveLength(2);
  });

  test('that has ended leads to the command that makes a new one', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const settings = http(login.mcp.url);
    await logIn(options(world, settings));
    const thread = await world.thread([settings]);
    login.endSession();
    expect((await thread.call('mcp__fk__echo')).text).toContain('`interpreter mcp login fk`');
    await logIn(options(world, settings));
    await world.close();
    const later = await world.thread([settings]);
    expect((await later.call('mcp__fk__echo')).text).toBe('echo got {}');
  });

  test('belongs to a name and an address, and can be forgotten', async () => {
    const login = await TestLogin.start();
    const world = new McpWorld();
    const settings = http(login.mcp.url);
    await logIn(options(world, settings));
    const store = new LoginStore(world.home, 'file');
    expect(await store.has(LoginStore.key('fk', login.mcp.url))).toBe(true);
    expect(await store.has(LoginStore.key('fk', 'http://other/'))).toBe(false);
    expect(await store.remove(LoginStore.key('fk', login.mcp.url))).toBe(true);
    expect(await store.remove(LoginStore.key('fk', login.mcp.url))).toBe(false);
    const thread = await world.thread([settings]);
    await until(() => thread.state('fk').startsWith('failed'));
    expect(thread.state('fk')).toContain('it wants a login');
  });
});
