import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkImports } from '../../scripts/imports/check-imports.js';

let folder = '';

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the files to a fresh folder and checks it; gives the breaches as "file:line  message". */
function check(files: Readonly<Record<string, string>>): string[] {
  folder = mkdtempSync(join(tmpdir(), 'check-imports-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return checkImports(folder).breaches.map(({ file, line, message }) => `${file}:${line}  ${message}`);
}

const DOOR = '/** A room. */\n';

describe('the check of imports', () => {
  it('accepts what the table allows', () => {
    expect(
      check({
        'src/util/index.ts': `${DOOR}export const a = 1;`,
        'src/tools/index.ts': `${DOOR}import { a } from '../util/index.js';\nexport const b = a;`,
        'src/cli/main.ts': `import { b } from '../tools/index.js';\nconsole.error(b, process.env.HOME, process.argv);`,
        'src/sandbox/run.ts': `import { spawn } from 'node:child_process';\nexport const run = spawn;`,
        'src/mcp-client/c.ts': `import { Client } from '@modelcontextprotocol/client';\nexport const c = Client;`,
        'test/cli/main.test.ts': `import '../../src/cli/main.js';`,
        'test/tools/b.test.ts': `import { b } from '../../src/tools/index.js';\nimport '@modelcontextprotocol/sdk';`,
      }),
    ).toEqual([]);
  });

  it.each([
    ['a value', `import { a } from '../agent/index.js';`],
    ['a type', `import type { A } from '../agent/index.js';`],
    ['a re-export', `export * from '../agent/index.js';`],
    ['a lazy import', `export const a = () => import('../agent/index.js');`],
    ['a type in place', `export type A = import('../agent/index.js').A;`],
  ])('refuses %s of a room that the table does not allow', (_, text) => {
    const breaches = check({ 'src/tools/a.ts': `\n${text}`, 'src/agent/index.ts': DOOR });
    expect(breaches).toEqual([
      'src/tools/a.ts:2  tools/ may not import agent/ (it may: protocol, util, sandbox). Take what you need as a parameter typed in protocol/, or move the code.',
    ]);
  });

  it.each([
    ['src/tools/a.ts', '../util/deep.js', 'Another room is entered through its door'],
    ['test/tools/a.test.ts', '../../src/util/deep.js', 'Tests go through a public door'],
    ['src/tools/a.ts', '../../test/support/fake.js', 'src imports nothing outside src'],
    ['src/agent/a.ts', 'node:child_process', 'node:child_process is for sandbox, sdk only'],
    ['src/agent/a.ts', '@opentelemetry/api', 'OpenTelemetry is for telemetry only'],
    ['src/agent/a.ts', '@modelcontextprotocol/server', 'the MCP server SDK is for mcp-server only'],
    ['src/mcp-server/a.ts', '@modelcontextprotocol/client', 'the MCP client SDK is for mcp-client only'],
    ['src/mcp-server/a.ts', '@modelcontextprotocol/sdk/x', 'version 1 of the MCP SDK is for tests only'],
  ])('refuses in %s an import of %s', (path, request, message) => {
    const breaches = check({ [path]: `import '${request}';`, 'src/util/deep.ts': '' });
    expect(breaches).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['process.env', 'export const a = process.env.HOME;'],
    ['process.env', `export const a = process['env'];`],
    ['process.env', 'const { env } = process;\nexport const a = env;'],
    ['process.env', `import { env } from 'node:process';\nexport const a = env;`],
    ['process.argv', 'export const a = process.argv[2];'],
  ])('refuses %s below the doors: %s', (name, text) => {
    expect(check({ 'src/agent/a.ts': text })).toEqual([expect.stringContaining(`${name} is for `)]);
  });

  it('wants zod as a namespace, which the bundle can leave parts of out', () => {
    const breaches = check({
      'src/tools/a.ts': `import { z } from 'zod';\nexport const a = z;`,
      'src/tools/b.ts': `import * as z from 'zod';\nexport const b = z;`,
    });
    expect(breaches).toEqual([expect.stringContaining('src/tools/a.ts:1  Write `import * as z')]);
  });

  it('finds a cycle that goes through types', () => {
    const breaches = check({
      'src/agent/a.ts': `import type { B } from './b.js';\nexport type A = B;`,
      'src/agent/b.ts': `import type { C } from './c.js';\nexport type B = C;`,
      'src/agent/c.ts': `import type { A } from './a.js';\nexport type C = A;`,
    });
    expect(breaches).toEqual([
      'src/agent/a.ts:1  Import cycle: src/agent/a.ts -> src/agent/b.ts -> src/agent/c.ts -> src/agent/a.ts. Move what both need to a third file.',
    ]);
  });

  it('wants a known room with a door that says what it is for', () => {
    const breaches = check({ 'src/tools/index.ts': 'export {};', 'src/misc/a.ts': '' });
    expect(breaches.toSorted()).toEqual([
      expect.stringContaining('src/misc/a.ts:1  src/misc is no room'),
      expect.stringContaining('src/tools/index.ts:1  The index.ts of a room opens with a comment'),
    ]);
  });
});
