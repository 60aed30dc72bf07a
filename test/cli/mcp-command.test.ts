/** `interpreter mcp`, through the built program. */
import path from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { TestLogin } from '../mcp-client/login-server.js';
import { ExecWorld, type Ran } from '../support/exec-world.js';

const program = path.join(import.meta.dirname, '../fixtures/mcp-servers/scripted.mjs');

type Cli = { mcp: (...args: string[]) => Promise<Ran>; servers: () => unknown; text: () => string; world: ExecWorld };

async function commandLine(config = ''): Promise<Cli> {
  const world = await ExecWorld.create([], config);
  return {
    world,
    mcp: (...args) => world.run(['mcp', ...args], { input: '' }),
    text: () => world.read('home/config.toml'),
    servers: () => parse(world.read('home/config.toml')).mcp_servers,
  };
}

test('plain `mcp` points hosts to mcp-server, on stderr alone', async () => {
  const { mcp } = await commandLine();
  const { code, out, err } = await mcp();
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(err).toContain('An MCP host that wants to use this agent starts `interpreter mcp-server`.');
  expect(await mcp('frobnicate')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining("unknown command 'frobnicate'"),
  });
  expect(await mcp('help')).toMatchObject({ code: 0, out: expect.stringContaining('Usage: interpreter mcp'), err: '' });
});

describe('mcp add and remove', () => {
  test('change the file and nothing else in it', async () => {
    const { mcp, servers, text } = await commandLine('# a comment\nservice_tier = "flex" # another\n');
    const before = text();
    expect(await mcp('add', 'a', '--env', 'K=v=w', '--', 'prog', '--flag', 'x')).toMatchObject({ code: 0 });
    expect(
      await mcp(
        'add',
        'b',
        '--url',
        'https://x.test/mcp',
        '--bearer-token-env-var',
        'T',
        '--header',
        'X-A: b',
        '--header',
        'X-C=d',
      ),
    ).toMatchObject({ code: 0 });
    expect(servers()).toEqual({
      a: { command: 'prog', args: ['--flag', 'x'], env: { K: 'v=w' } },
      b: { url: 'https://x.test/mcp', bearer_token_env_var: 'T', http_headers: { 'X-A': 'b', 'X-C': 'd' } },
    });
    expect((await mcp('add', 'a', '--', 'other')).out).toContain('replaced');
    expect(servers()).toMatchObject({ a: { command: 'other' } });
    expect((await mcp('remove', 'a')).code).toBe(0);
    expect((await mcp('remove', 'b')).code).toBe(0);
    expect(text().trimEnd()).toBe(before.trimEnd());
    expect(await mcp('remove', 'b')).toMatchObject({ code: 1, err: expect.stringContaining('has no MCP server b') });
  });

  test.each([
    [['a'], 'Say what the server is'],
    [['a b', '--', 'x'], "can't be a name"],
    [['a', '--url', 'ftp://x'], 'no http or https address'],
    [['a', '--url', 'http://x/', '--', 'y'], 'not both'],
    [['a', '--url', 'http://x/', '--env', 'A=b'], '--env is for servers that are programs'],
    [['a', '--header', 'A=b', '--', 'x'], '--header is for servers with --url'],
    [['a', '--env', 'novalue', '--', 'x'], 'Write NAME=VALUE'],
  ])('%j is refused', async (args, message) => {
    const { mcp, text } = await commandLine();
    const before = text();
    expect(await mcp('add', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    expect(text()).toBe(before);
  });
});

test('mcp list and get tell how servers stand, without secrets', async () => {
  const { mcp, world } = await commandLine();
  const server = JSON.stringify({ tools: [{ name: 'a' }, { name: 'b' }] });
  world.write(
    'home/config.toml',
    `${world.read('home/config.toml')}
[mcp_servers.good]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([program, server])}
env = { KEY = "s3cret" }
disabled_tools = ["b"]
[mcp_servers.dead]
command = "/nonexistent/server"
[mcp_servers.web]
url = "http://127.0.0.1:1024/mcp"
http_headers = { Authorization = "s3cret" }
[mcp_servers.off]
command = "x"
enabled = false
`,
  );
  const table = await mcp('list');
  expect(table.code).toBe(0);
  expect(table.out).toMatch(
    /^NAME +STATE +TRANSPORT +AUTH +TOOLS\ngood +ready +stdio +- +1\ndead +failed +stdio +- +-\nweb +failed +http +headers +-\noff +disabled +- +- +-\n/,
  );
  expect(table.out).toContain('dead: /nonexistent/server: command not found.');
  const json = await mcp('list', '--json');
  expect(JSON.parse(json.out)).toMatchObject([
    { name: 'good', enabled: true, state: 'ready', tools: 1, auth: 'none', transport: { type: 'stdio' } },
    { name: 'dead', enabled: true, state: 'failed', tools: null },
    { name: 'web', enabled: true, state: 'failed', auth: 'headers', transport: { http_headers: ['Authorization'] } },
    { name: 'off', enabled: false, state: 'disabled' },
  ]);
  const one = await mcp('get', 'good');
  expect(one.out).toContain('disabled_tools: ["b"]');
  expect(JSON.parse((await mcp('get', 'web', '--json')).out)).toMatchObject({
    name: 'web',
    transport: { type: 'http' },
  });
  expect(table.out + json.out + one.out).not.toContain('s3cret');
  expect(await mcp('get', 'nobody')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There are: good, dead, web.'),
  });
});

describe('mcp login', () => {
  test('prints the address, waits, and keeps the login until logout', async () => {
    const login = await TestLogin.start();
    const { mcp, world } = await commandLine();
    await mcp('add', 'web', '--url', login.mcp.url);
    expect((await mcp('list')).out).toMatch(/web +failed +http +login needed +-\n\nweb: it wants a login/);
    const ran = await world.run(['mcp', 'login', 'web', '--file'], {
      onStart: child => {
        let seen = '';
        child.stdout?.on('data', (text: string) => {
          seen += text;
          const url = /^http\S+\/authorize\S+$/m.exec(seen)?.[0];
          if (url !== undefined && seen.endsWith('\n\n')) void fetch(url);
        });
      },
    });
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('Logged in to web (tools)') });
    expect((await mcp('list')).out).toMatch(/web +ready +http +logged in +1/);
    expect(await mcp('logout', 'web')).toMatchObject({ code: 0 });
    expect(await mcp('logout', 'web')).toMatchObject({ code: 1, err: 'There is no login to web.\n' });
  });

  test('is for servers over HTTP that exist', async () => {
    const { mcp } = await commandLine();
    await mcp('add', 'a', '--', 'x');
    expect(await mcp('login', 'a')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is a program on this machine'),
    });
    expect(await mcp('login', 'b')).toMatchObject({
      code: 1,
      err: expect.stringContaining('No enabled MCP server has the name b'),
    });
    await mcp('add', 'c', '--url', 'http://127.0.0.1:1024/mcp');
    expect(await mcp('login', 'c')).toMatchObject({ code: 1, err: expect.stringContaining("can't be reached") });
  });
});
