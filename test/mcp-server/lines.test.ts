import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Message } from './line-client.js';
import { type LocalServer, startServer } from './local-server.js';

let local: LocalServer;
beforeEach(async () => {
  local = startServer();
  await local.client.initialize();
});
afterEach(() => local.server.close());

/** The answer to one line, and the proof that the server lives on. */
async function answerTo(line: string | Buffer): Promise<Message[]> {
  const before = local.client.responses.length;
  local.client.raw(line);
  const ping = await local.client.request('ping');
  expect(ping.result).toEqual({});
  return local.client.responses.slice(before, -1);
}

describe('lines that are no request', () => {
  test.each(['{"jsonrpc":"2.0","id":77,"method":', 'hello', '{]', '\u0000', '"unterminated', 'Content-Length: 12'])(
    '%j is a parse error without an id',
    async line => {
      expect(await answerTo(`${line}\n`)).toEqual([
        { jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.any(String) } },
      ]);
    },
  );

  test.each<[string, string | number | null]>([
    ['{"jsonrpc":"2.0","id":78,"method":42}', 78],
    ['{"jsonrpc":"2.0","id":"x"}', 'x'],
    ['{"id":1,"method":"ping"}', 1],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 1],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":3,"method":"ping","params":5}', 3],
    ['{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}', 3],
    ['{"jsonrpc":"2.0","method":7}', null],
    ['{}', null],
    ['5', null],
    ['null', null],
    ['"text"', null],
    ['true', null],
    ['[]', null],
    ['[{"jsonrpc":"2.0","id":901,"method":"ping"},{"jsonrpc":"2.0","id":902,"method":"tools/list"}]', null],
  ])('%s is an invalid request', async (line, id) => {
    expect(await answerTo(`${line}\n`)).toEqual([
      { jsonrpc: '2.0', id, error: { code: -32600, message: expect.any(String) } },
    ]);
  });

  test.each([
    '{"jsonrpc":"2.0","id":987654,"result":{}}',
    '{"jsonrpc":"2.0","id":987655,"error":{"code":-1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
    '{"jsonrpc":"2.0","id":0,"result":"no object"}',
    '{"jsonrpc":"2.0","id":0,"error":"no object"}',
    '{"jsonrpc":"2.0","id":{"a":1},"result":{}}',
  ])('the stray response %s is ignored', async line => {
    expect(await answerTo(`${line}\n`)).toEqual([]);
  });
});

describe('metadata of a call', () => {
  const call = (meta: unknown) =>
    local.client.request('tools/call', { name: 'codex', arguments: { prompt: 'a' }, _meta: meta });
  const modern = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };

  test.each<[unknown]>([
    [5],
    [[]],
    ['x'],
    [{ progressToken: {} }],
    [{ progressToken: true }],
    [{ progressToken: 1.5 }],
    [{ ...modern, progressToken: [] }],
  ])('%j is refused, before and after a call that worked', async meta => {
    const refused = { code: -32602, message: expect.stringContaining('_meta') };
    expect((await call(meta)).error).toEqual(refused);
    expect((await call({})).result.isError).toBeUndefined();
    expect((await call(meta)).error).toEqual(refused);
  });

  test.each<[unknown]>([[null], [{ progressToken: null }], [{ ...modern, progressToken: null }]])(
    '%j counts as none',
    async meta => {
      expect((await call(meta)).result.structuredContent.content).toBe('said: a');
      expect(local.client.notifications('notifications/progress')).toEqual([]);
    },
  );
});

describe('framing', () => {
  test('CRLF, blank lines, spaces and a byte order mark are tolerated', async () => {
    const ping = '{"jsonrpc":"2.0","id":555,"method":"ping"}';
    expect(await answerTo(`\r\n\n   \n${ping}\r\n`)).toMatchObject([{ id: 555, result: {} }]);
    expect(await answerTo(`\ufeff ${ping} \n`)).toMatchObject([{ id: 555, result: {} }]);
  });

  test('a message may come in any pieces', async () => {
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":"ü🙂","method":"ping"}\n');
    for (const byte of bytes) local.client.raw(Buffer.from([byte]));
    const answered = await local.client.waitFor(() => local.client.responses.find(({ id }) => id === 'ü🙂'));
    expect(answered.result).toEqual({});
  });

  test('bytes that are no UTF-8 never stop the server', async () => {
    expect(await answerTo(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]))).toMatchObject([{ error: { code: -32700 } }]);
    const broken = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"codex","arguments":{"prompt":"a'),
      Buffer.from([0xff]),
      Buffer.from('b"}}}\n'),
    ]);
    local.client.raw(broken);
    const answered = await local.client.waitFor(() => local.client.responses.find(({ id }) => id === 1));
    expect(answered.result.structuredContent.content).toBe('said: a\ufffdb');
  });

  test('a prompt of 6 MB arrives whole', async () => {
    const prompt = 'ü'.repeat(3_000_000);
    const { result } = await local.client.call('codex', { prompt });
    expect(result.structuredContent.content.length).toBe(prompt.length + 'said: '.length);
  });

  test('a last line without an end is read', async () => {
    local.client.raw('{"jsonrpc":"2.0","id":"last","method":"ping"}');
    local.client.end();
    const answered = await local.client.waitFor(() => local.client.responses.find(({ id }) => id === 'last'));
    expect(answered.result).toEqual({});
  });

  test('a line above 64 MiB is reported and skipped', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 65; i++) local.client.raw(megabyte);
    expect(await answerTo('\n')).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringContaining('64 MiB') } },
    ]);
  });
});

test('whatever is sent, every line gets at most one answer and the server lives on', async () => {
  const json = fc.json({ maxDepth: 3 });
  const almost = fc.record(
    {
      jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
      id: fc.jsonValue({ maxDepth: 1 }),
      method: fc.oneof(fc.constantFrom('ping', 'tools/list', 'tools/call', 'initialize', 'x'), fc.jsonValue()),
      params: fc.oneof(
        fc.record({ name: fc.constantFrom('codex', 'codex-reply', 'zzz'), arguments: fc.jsonValue() }),
        fc.record({ _meta: fc.dictionary(fc.constantFrom('io.modelcontextprotocol/protocolVersion', 'a'), fc.json()) }),
        fc.jsonValue(),
      ),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const line = fc.oneof(
    json,
    almost.map(value => JSON.stringify(value)),
    fc.string(),
    fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('latin1')),
  );
  const property = fc.asyncProperty(fc.array(line, { maxLength: 8 }), async lines => {
    const clean = lines.map(text => text.replaceAll('\n', ' '));
    const before = local.client.responses.length;
    for (const text of clean) local.client.raw(`${text}\n`);
    const ping = await local.client.request('ping', undefined, `fuzz-${before}`);
    expect(ping.result).toEqual({});
    expect(local.client.responses.length - before).toBeLessThanOrEqual(clean.length + 1);
    expect(local.client.garbage).toEqual([]);
  });
  await fc.assert(property, { numRuns: 300 });
});
