import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../src/approvals/index.js';
import type { ParsedCommand } from '../../src/protocol/index.js';

const parse = (script: string) => parseCommand(['/bin/bash', '-lc', script]);
const read = (cmd: string, path: string, name = path): ParsedCommand => ({ type: 'read', cmd, name, path });
const list = (cmd: string, path: string | null = null): ParsedCommand => ({ type: 'list_files', cmd, path });
const search = (cmd: string, query: string | null, path: string | null = null): ParsedCommand => ({
  type: 'search',
  cmd,
  query,
  path,
});

const TABLE: [string, ...ParsedCommand[]][] = [
  ['ls', list('ls')],
  ['ls -la src', list('ls -la src', 'src')],
  ['ls src lib', list('ls src lib', 'src')],
  ['tree -L 2 src', list('tree -L 2 src', 'src')],
  ['eza -l', list('eza -l')],
  ['du -sh', list('du -sh')],
  ['rg --files', list('rg --files')],
  ["rg --files -g '*.ts'", list("rg --files -g '*.ts'")],
  ['rg --files src | head -5', list('rg --files src', 'src')],
  ['git ls-files', list('git ls-files')],
  ['git ls-files src', list('git ls-files src', 'src')],
  ['find src -type f', list('find src -type f', 'src')],
  ['find', list('find')],
  ['fd', list('fd')],
  ['rg foo', search('rg foo', 'foo')],
  ["rg -n 'a b' src/x | wc -l", search("rg -n 'a b' src/x", 'a b', 'src/x')],
  ['rg -e foo src', search('rg -e foo src', 'foo', 'src')],
  ["rg -l foo src -g '*.ts'", search("rg -l foo src -g '*.ts'", 'foo', 'src')],
  ['rg', search('rg', null)],
  ['grep -rn foo .', search('grep -rn foo .', 'foo', '.')],
  ['grep -A 3 foo a.txt', search('grep -A 3 foo a.txt', 'foo', 'a.txt')],
  ['grep -- -x a.txt', search('grep -- -x a.txt', '-x', 'a.txt')],
  ['git grep foo src', search('git grep foo src', 'foo', 'src')],
  ['ack foo src', search('ack foo src', 'foo', 'src')],
  ['fd foo src', search('fd foo src', 'foo', 'src')],
  ["find . -name '*.ts' | head", search("find . -name '*.ts'", '*.ts', '.')],
  ['cat a.txt', read('cat a.txt', 'a.txt')],
  ['/bin/cat src/a/b.txt', read('/bin/cat src/a/b.txt', 'src/a/b.txt', 'b.txt')],
  ["cat 'a b.txt'", read("cat 'a b.txt'", 'a b.txt')],
  ['cat -n a.txt', read('cat -n a.txt', 'a.txt')],
  ['bat a.txt', read('bat a.txt', 'a.txt')],
  ['nl -ba a.txt', read('nl -ba a.txt', 'a.txt')],
  ['head -n 5 a.txt', read('head -n 5 a.txt', 'a.txt')],
  ['head -5 a.txt', read('head -5 a.txt', 'a.txt')],
  ['tail -n +10 a.txt', read('tail -n +10 a.txt', 'a.txt')],
  ['sed -n 1,5p a.txt', read('sed -n 1,5p a.txt', 'a.txt')],
  ['nl a.txt | sed -n 1,5p', read('nl a.txt', 'a.txt')],
  ['cat a.txt | head -5 || true', read('cat a.txt', 'a.txt')],
  ['cat a.txt; cat a.txt', read('cat a.txt', 'a.txt')],
  ['cat a.txt | grep foo', read('cat a.txt', 'a.txt'), search('grep foo', 'foo')],
  ['cat a.txt\nls', read('cat a.txt', 'a.txt'), list('ls')],
  ['cd src && cat a.txt', read('cat a.txt', 'src/a.txt', 'a.txt')],
  ['cd /tmp && cd x && cat f', read('cat f', '/tmp/x/f', 'f')],
  ['cd src && ls', list('ls')],
];

test.each(TABLE)('%j', (script, ...parts) => {
  expect(parse(script)).toEqual(parts);
});

describe('unknown as a whole', () => {
  test.each([
    'echo hi',
    'pwd',
    'true',
    'cd src',
    'ls && npm test',
    'cat a b',
    'cat',
    'tail -f x',
    'sed -i s/a/b/ x',
    'wc -l a.txt',
    'npm test | head -5',
    'cat < a.txt',
    'ls 2>/dev/null',
    "bash -c 'cat a.txt'",
    'cat $(ls)',
    'git status',
    '',
    'find . -exec cat {} +',
    'if true; then ls; fi',
    'echo "unclosed',
  ])('%j', script => {
    expect(parse(script)).toEqual([{ type: 'unknown', cmd: script }]);
  });
});

test('a command that is no script is shown with its words quoted', () => {
  expect(parseCommand(['cat', 'a b'])).toEqual([read("cat 'a b'", 'a b')]);
  expect(parseCommand(['python3', '-c', "print('x')"])).toEqual([
    { type: 'unknown', cmd: "python3 -c 'print('\\''x'\\'')'" },
  ]);
  expect(parseCommand([])).toEqual([{ type: 'unknown', cmd: '' }]);
});

test('the script of a shell anywhere is looked at', () => {
  expect(parseCommand(['/home/me/bin/zsh', '-c', 'ls'])).toEqual([list('ls')]);
});
