/** Keys: where they are found, how they are sent, that they are never told. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ProviderSettings } from '../../src/protocol/index.js';
import { createProvider, login, loginStatus, logout, type ProviderDeps, storedKey } from '../../src/providers/index.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { collect, DEPS, redirected, requestFor, settingsFor } from './support.js';
import { WIRES } from './wires.js';

let server: ModelServer;

beforeEach(async () => {
  server = await startModelServer();
  server.reply({ stream: WIRES[0]?.stream([{ say: 'ok' }]) ?? [] });
});
afterEach(() => server.close());

const send = async (settings: Partial<ProviderSettings>, deps: Partial<ProviderDeps> = {}) => {
  const whole = settingsFor({ base_url: server.url, ...settings });
  const provider = createProvider(whole, { ...DEPS, connections: redirected(server.url), ...deps });
  const { last } = await collect(provider.stream(requestFor(whole), new AbortController().signal));
  return { error: last.type === 'failed' ? last.error : null, headers: server.requests.at(-1)?.headers ?? {} };
};

const messages = { wire_api: 'messages' as const, env_key: 'KEY' };
test.each<[string, Partial<ProviderSettings>, Record<string, string>]>([
  ['a variable', { env_key: 'KEY' }, { authorization: 'Bearer sk-123456' }],
  ['a literal', { experimental_bearer_token: 'tok-1' }, { authorization: 'Bearer tok-1' }],
  ['Anthropic', { ...messages, base_url: 'http://api.anthropic.com' }, { 'x-api-key': 'sk-123456' }],
  [
    'a copy of Anthropic',
    { ...messages, base_url: 'http://api.z.ai/api/anthropic' },
    { authorization: 'Bearer sk-123456' },
  ],
  ['Azure', { env_key: 'KEY', base_url: 'http://x.openai.azure.com/openai' }, { 'api-key': 'sk-123456' }],
  [
    'headers',
    { http_headers: { 'X-A': '1' }, env_http_headers: { 'X-B': 'KEY', 'X-C': 'UNSET', 'X-D': 'BLANK' } },
    { 'x-a': '1', 'x-b': 'sk-123456' },
  ],
  [
    'an own header instead of the key',
    { env_key: 'UNSET', env_http_headers: { 'api-key': 'KEY' } },
    { 'api-key': 'sk-123456' },
  ],
])('%s', async (_name, settings, expected) => {
  const { headers } = await send(settings, { env: { KEY: ' sk-123456\n', BLANK: ' ' } });
  const shown = Object.entries(headers).filter(([name]) => /^(?:x-[a-d]|authorization|api-key|x-api-key)$/.test(name));
  expect(Object.fromEntries(shown)).toEqual(expected);
});

test('a provider without a key is asked without one', async () => {
  const { error, headers } = await send({});
  expect(error).toBe(null);
  expect('authorization' in headers).toBe(false);
});

test.each([{}, { KEY: '' }, { KEY: '  ' }])(
  'a missing key (%j) fails at once, names the variable and sends nothing',
  async env => {
    const settings = { env_key: 'KEY', env_key_instructions: 'Get one at example.test.', request_max_retries: 4 };
    const { error } = await send(settings, { env });
    expect(error).toMatchObject({ kind: 'unauthorized', retryable: false });
    expect(error?.message).toContain('Missing environment variable: KEY');
    expect(error?.message).toContain('Get one at example.test.');
    expect(server.requests).toEqual([]);
  },
);

test('an unset variable of a header that carries the key is a missing key', async () => {
  const settings = { id: 'azure', env_http_headers: { 'Api-Key': 'AZURE_KEY', 'X-Other': 'UNSET' } };
  expect((await send(settings)).error).toMatchObject({
    kind: 'unauthorized',
    message: expect.stringContaining('AZURE_KEY'),
  });
  expect((await send(settings, { env: { AZURE_KEY: 'sk-azure' } })).headers['api-key']).toBe('sk-azure');
});

test('query parameters are escaped and never shown', async () => {
  const settings = { base_url: `${server.url}/?own=1`, query_params: { 'api-version': 'a b&c', key: 'secret-query' } };
  server.reply({ status: 400, body: { error: { message: 'bad key secret-query' } } });
  const { error } = await send(settings);
  expect(server.requests[0]?.path).toBe('/v1/responses?own=1&api-version=a+b%26c&key=secret-query');
  expect(error?.message).not.toContain('secret-query');
  expect(error?.message).not.toContain('?');
});

test('no secret is in an error text, whoever says it', async () => {
  server.reply({ status: 401, body: { error: { message: 'bad token sk-123456 and hdr-secret' } } });
  const settings = { env_key: 'KEY', http_headers: { 'X-Auth': 'Basic hdr-secret' } };
  const { error } = await send(settings, { env: { KEY: 'sk-123456' } });
  expect(error?.message).toContain('bad token [redacted] and [redacted]');
  expect(error?.message).toContain('check the key in KEY');
  server.reply({ stream: [WIRES[0]?.error('stream told sk-123456', 'server_error') ?? ''] });
  expect((await send(settings, { env: { KEY: 'sk-123456' } })).error?.message).toContain('told [redacted]');
});

test.each([
  [{ env_key: 'KEY' }, 'line\nbreak'],
  [{ env_key: 'KEY' }, 'schlüssel→'],
])('a key that can not be a header is a configuration error without the key', async (settings, key) => {
  const { error } = await send({ ...settings, request_max_retries: 3 }, { env: { KEY: key } });
  expect(error).toMatchObject({ kind: 'configuration', retryable: false });
  expect(error?.message).not.toContain(key);
});

test('a base URL that is none is a configuration error', async () => {
  for (const base_url of ['api.example.test/v1', 'ftp://x/v1', '']) {
    expect((await send({ base_url })).error).toMatchObject({ kind: 'configuration', retryable: false });
  }
});

describe('auth commands', () => {
  const auth = { command: 'print-token', args: [], timeout_ms: 1000, refresh_interval_ms: 60_000 };
  const counter = () => {
    let runs = 0;
    return { runAuthCommand: async () => `token-${++runs}\n`, runs: () => runs };
  };

  test('their output is the token, run once and again after a 401', async () => {
    const { runAuthCommand, runs } = counter();
    const settings = settingsFor({ base_url: server.url, auth });
    const provider = createProvider(settings, { ...DEPS, runAuthCommand });
    const ask = () => collect(provider.stream(requestFor(settings), new AbortController().signal));
    await ask();
    await ask();
    expect(runs()).toBe(1);
    server.reply({ status: 401 }, { stream: WIRES[0]?.stream([{ say: 'ok' }]) ?? [] });
    expect((await ask()).text).toBe('ok');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  test('a second 401 is final', async () => {
    const { runAuthCommand, runs } = counter();
    server.reply({ status: 401 });
    expect((await send({ auth }, { runAuthCommand })).error).toMatchObject({ kind: 'unauthorized' });
    expect(runs()).toBe(2);
  });

  test('they run again after their interval', async () => {
    const { runAuthCommand, runs } = counter();
    const settings = settingsFor({ base_url: server.url, auth: { ...auth, refresh_interval_ms: 1 } });
    const provider = createProvider(settings, { ...DEPS, runAuthCommand });
    await collect(provider.stream(requestFor(settings), new AbortController().signal));
    const first = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(first + 1);
    await collect(provider.stream(requestFor(settings), new AbortController().signal));
    expect(runs()).toBe(2);
  });

  test.each([
    ['fails', async () => Promise.reject(new Error('exit 3')), 'exit 3'],
    ['prints nothing', async () => '\n', 'no token'],
  ])('one that %s is an error and sends nothing', async (_how, runAuthCommand, message) => {
    const { error } = await send({ auth }, { runAuthCommand });
    expect(error).toMatchObject({ kind: 'unauthorized', retryable: false, message: expect.stringContaining(message) });
    expect(server.requests).toEqual([]);
  });
});

describe('stored keys', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'keys-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const mode = async () => ((await stat(join(home, 'auth.json'))).mode & 0o777).toString(8);

  test('are kept in a file that only its owner can read, listed without the key, and removed', async () => {
    expect(await login(home, 'openai', ' sk-file ', 'file')).toBe('file');
    await login(home, 'zai', 'sk-other', 'file');
    expect(await mode()).toBe('600');
    expect(await storedKey(home, 'openai')).toBe('sk-file');
    expect(await loginStatus(home)).toEqual([
      { provider: 'openai', place: 'file' },
      { provider: 'zai', place: 'file' },
    ]);
    expect(await logout(home, 'openai')).toBe(true);
    expect(await logout(home, 'openai')).toBe(false);
    expect(await storedKey(home, 'openai')).toBe(null);
    expect(await storedKey(home, 'zai')).toBe('sk-other');
  });

  test('what else is in the file stays, and an open mode is closed', async () => {
    await writeFile(join(home, 'auth.json'), '{"other": 1}', { mode: 0o644 });
    await login(home, 'openai', 'sk-file', 'file');
    expect(JSON.parse(await readFile(join(home, 'auth.json'), 'utf8'))).toEqual({
      other: 1,
      keys: { openai: { key: 'sk-file' } },
    });
    expect(await mode()).toBe('600');
  });

  test('are used when the variable is not set', async () => {
    await login(home, 'test', 'sk-stored', 'file');
    const deps = { storedKey: (id: string) => storedKey(home, id) };
    expect((await send({ env_key: 'KEY' }, deps)).headers.authorization).toBe('Bearer sk-stored');
    expect((await send({ env_key: 'KEY' }, { ...deps, env: { KEY: 'sk-env' } })).headers.authorization).toBe(
      'Bearer sk-env',
    );
    expect((await send({ env_key: 'KEY', id: 'elsewhere' }, deps)).error?.message).toContain('KEY');
  });

  test('a home that does not exist has none and is made at a login', async () => {
    const missing = join(home, 'a', 'b');
    expect(await storedKey(missing, 'openai')).toBe(null);
    expect(await loginStatus(missing)).toEqual([]);
    await login(missing, 'openai', 'sk', 'file');
    expect(await storedKey(missing, 'openai')).toBe('sk');
  });

  test('an empty key and a broken file are refused by name', async () => {
    await expect(login(home, 'openai', ' ', 'file')).rejects.toThrow('No key was given');
    await writeFile(join(home, 'auth.json'), '{oops');
    await expect(storedKey(home, 'openai')).rejects.toThrow(join(home, 'auth.json'));
    await expect(login(home, 'openai', 'sk', 'file')).rejects.toThrow('auth.json');
    expect(await readFile(join(home, 'auth.json'), 'utf8')).toBe('{oops');
  });

  test('go to the keyring where there is one, else to the file', async () => {
    const place = await login(home, `test-${process.pid}`, 'sk-somewhere');
    expect(await storedKey(home, `test-${process.pid}`)).toBe('sk-somewhere');
    expect(await loginStatus(home)).toEqual([{ provider: `test-${process.pid}`, place }]);
    expect(await logout(home, `test-${process.pid}`)).toBe(true);
  });
});
