import { mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createShellGrammarLoader, judge } from '../../src/approvals/index.js';
import { contextOf, grammar, inWords, shell } from './support.js';

const PACKAGES = ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm'];

test('is loaded once, from the folder it is told', async () => {
  const folder = mkdtempSync('/var/tmp/grammar-');
  try {
    const loader = createShellGrammarLoader({ wasmDir: folder });
    await expect(loader.load()).rejects.toThrow(`can't be read from ${folder}/`);
    const { resolve } = createRequire(import.meta.url);
    for (const name of PACKAGES) await cp(resolve(name), join(folder, name.split('/')[1] ?? ''));
    // After a failure it tries again; after a success it keeps what it has.
    const [first, second] = await Promise.all([loader.load(), loader.load()]);
    expect(first).toBe(second);
    expect(first.read('ls $(rm -rf x)')?.commands.map(command => command.words)).toContainEqual(['rm', '-rf', 'x']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a script made to be slow to read is unreadable, and the next one is not', () => {
  const slow = `rm -f x ${'<'.repeat(40_000)}`;
  expect(grammar.read(slow)).toBeNull();
  expect(grammar.read('ls')).not.toBeNull();
  expect(inWords(judge(shell(slow), contextOf({ policy: 'never' })))).toBe('refuse');
});

test('many scripts within one that are slow to read do not add up', () => {
  const inner = Array.from({ length: 40 }, (_, i) => `bash -c '${'<'.repeat(1500)}${i}'`).join('; ');
  expect(inWords(judge(shell(`rm -f x "$y"; ${inner}`), contextOf({ policy: 'never' })))).toBe('refuse');
});

test('a script that is far too long or deep is unreadable, not an error', () => {
  expect(grammar.read('a '.repeat(40_000))).toBeNull();
  expect(grammar.read('ls \0')).toBeNull();
  for (const script of [
    '('.repeat(20_000),
    '$('.repeat(20_000),
    '`'.repeat(20_001),
    '{'.repeat(20_000),
    '"$('.repeat(9000),
  ]) {
    expect(['null', 'object']).toContain(typeof grammar.read(script));
    expect(inWords(judge(shell(script), contextOf()))).toBe('ask, then run sandboxed');
  }
});
