import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as client from '@modelcontextprotocol/client';
import * as server from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/build/bundle.js';

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

const originals: Readonly<Record<string, Checks>> = { client: client.isSpecType, server: server.isSpecType };
const bundled: Record<string, Checks> = {};
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lazy-mcp-schemas-'));
  mkdirSync(join(folder, 'out'));
  writeFileSync(join(folder, 'out/package.json'), '{"type":"commonjs"}');
  const entries: Record<string, string> = {};
  for (const name of Object.keys(originals)) {
    entries[name] = join(folder, `${name}.ts`);
    const file = createRequire(import.meta.url)
      .resolve(`@modelcontextprotocol/${name}`)
      .replace(/\.cjs$/, '.mjs');
    writeFileSync(entries[name], `export { isSpecType } from ${JSON.stringify(file)};`);
  }
  await bundle({ entries, outdir: join(folder, 'out'), constants: {} });
  for (const name of Object.keys(originals)) {
    bundled[name] = (createRequire(join(folder, 'out/x.js'))(`./${name}.js`) as { isSpecType: Checks }).isSpecType;
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = { type: 'text', text: 'hello' };
const implementation = { name: 'x', version: '1' };
const VALUES: readonly unknown[] = [
  {},
  'text',
  7,
  text,
  { type: 'text' },
  { content: [text], structuredContent: { a: 1 } },
  { content: [{ type: 'nothing' }] },
  { method: 'tools/call', params: { name: 'codex', arguments: {} } },
  { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  { jsonrpc: '2.0', id: 1, result: {} },
  { jsonrpc: '2.0', id: null, method: 'tools/list' },
  { name: 'x', inputSchema: { type: 'object', properties: {} } },
  { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: implementation },
  { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: implementation },
  { action: 'accept', content: { decision: 'approved', count: 2 } },
  { action: 'maybe' },
  { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
  { message: 'sure?', requestedSchema: { type: 'object', properties: { a: { type: 'boolean' } } } },
  { uri: 'file:///x', text: '', mimeType: 'text/plain' },
  { uri: 'file:///x', blob: 'AA==' },
  { uri: 'file:///x', blob: '***' },
  { resource: 'https://example.com', authorization_servers: ['https://example.com'] },
  { redirect_uris: ['javascript:alert(1)'] },
  { access_token: 'a', token_type: 'bearer', expires_in: '3600' },
];

describe.each(['client', 'server'])('the lazy schemas of the MCP %s', name => {
  it('are those of the SDK, by name', () => {
    expect(Object.keys(bundled[name] ?? {})).toEqual(Object.keys(originals[name] ?? {}));
    expect(Object.keys(bundled[name] ?? {}).length).toBeGreaterThan(150);
  });

  it('accept and refuse what those of the SDK do', () => {
    const verdicts = (checks: Checks) =>
      Object.fromEntries(Object.entries(checks).map(([type, check]) => [type, VALUES.map(value => check(value))]));
    const expected = verdicts(originals[name] ?? {});
    expect(verdicts(bundled[name] ?? {})).toEqual(expected);
    // The values tell the types apart: a check that always said the same would show.
    expect(new Set(Object.values(expected).map(String)).size).toBeGreaterThan(20);
  });
});
