import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FileState, loadDiffs } from '../../src/util/index.js';
import { describeIf } from '../support/requires.js';

const { gitBlobId, gitDiff, unifiedHunks } = await loadDiffs();

let base: string;
beforeAll(() => {
  base = fs.mkdtempSync('/var/tmp/git-diff-');
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };

function git(args: string[], input?: string): string {
  try {
    return execFileSync('git', args, { cwd: base, env: ENV, input, encoding: 'utf8' });
  } catch (error) {
    // `git diff` exits with 1 when there are differences.
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    if (status === 1 && stderr === '') return stdout;
    throw new Error(stderr, { cause: error });
  }
}

type Side = { content: string | Buffer; mode?: number; link?: boolean } | null;

const state = (side: Side): FileState | null =>
  side && {
    content: Buffer.from(side.content as string),
    mode: side.link ? 0o120777 : 0o100000 | (side.mode ?? 0o644),
  };

function put(file: string, side: Side): void {
  fs.rmSync(file, { force: true });
  if (!side) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (side.link) return fs.symlinkSync(side.content.toString(), file);
  fs.writeFileSync(file, side.content);
  fs.chmodSync(file, side.mode ?? 0o644);
}

/** What git itself says about the two states; without the heading it guesses for each hunk. */
function realDiff(files: Record<string, [Side, Side]>): string {
  const trees = [0, 1].map(at => {
    for (const [name, sides] of Object.entries(files)) put(path.join(base, name), sides[at] ?? null);
    git(['add', '-A']);
    return git(['write-tree']).trim();
  });
  for (const name of Object.keys(files)) put(path.join(base, name), null);
  const text = git(['-c', 'core.quotePath=false', 'diff', '--full-index', '--no-renames', '--no-color', ...trees]);
  return text.replace(/^(@@ [^@]* @@).*$/gm, '$1');
}

function ourDiff(files: Record<string, [Side, Side]>): string {
  return gitDiff(
    Object.entries(files).map(([name, [before, after]]) => ({
      path: path.join(base, name),
      before: state(before),
      after: state(after),
    })),
    base,
  );
}

const c = (content: string | Buffer, mode?: number): Side => (mode === undefined ? { content } : { content, mode });
const numbers = (n: number) => Array.from({ length: n }, (_, i) => `line ${i}\n`).join('');

describeIf('git', 'gitDiff says what git says', () => {
  beforeAll(() => void git(['init', '-q', '.']));

  const cases: Record<string, Record<string, [Side, Side]>> = {
    'an update in the middle': { 'a.txt': [c(numbers(30)), c(numbers(30).replace('line 12\n', 'new\n'))] },
    'two hunks': {
      'a.txt': [c(numbers(60)), c(numbers(60).replace('line 3\n', 'x\n').replace('line 50\n', 'y\nz\n'))],
    },
    'two changes that share a hunk': {
      'a.txt': [c(numbers(30)), c(numbers(30).replace('line 10\n', 'x\n').replace('line 16\n', ''))],
    },
    'added, deleted, changed, in order of name': {
      'z/new.txt': [null, c('one\ntwo\n')],
      'gone.txt': [c('bye\n'), null],
      'b-c.txt': [c('1\n'), c('2\n')],
      'b/c.txt': [c('1\n'), c('2\n')],
    },
    'empty files': {
      'a.txt': [null, c('')],
      'b.txt': [c(''), null],
      'c.txt': [c(''), c('x\n')],
      'd.txt': [c('x\n'), c('')],
    },
    'no final newline': {
      'a.txt': [c('a\nb'), c('A\nb')],
      'b.txt': [c('a\nb'), c('a\nb\n')],
      'c.txt': [c('a\nb\n'), c('a\nb')],
      'd.txt': [null, c('x')],
    },
    'CRLF and other endings': { 'a.txt': [c('a\r\nb\r\nc\n'), c('a\r\nB\r\nc\n')] },
    'a changed mode': { 'run.sh': [c('x\n', 0o644), c('x\n', 0o755)], 'b.sh': [c('x\n', 0o755), c('y\n', 0o644)] },
    'a new program': { 'run.sh': [null, c('x\n', 0o755)] },
    'binary files': {
      'a.bin': [c(Buffer.from([1, 0, 2])), c(Buffer.from([1, 0, 3]))],
      'b.bin': [null, c(Buffer.from([0]))],
      'c.bin': [c(Buffer.from([0])), null],
    },
    'names with blanks, quotes and other alphabets': {
      'with blank.txt': [c('a\n'), c('b\n')],
      'qu"ote\\ \t.txt': [c('a\n'), c('b\n')],
      'größe 文.txt': [c('a\n'), null],
    },
    links: {
      l: [
        { content: 'old', link: true },
        { content: 'new', link: true },
      ],
      t: [{ content: 'x', link: true }, c('file\n')],
    },
  };
  it.each(Object.entries(cases))('%s', (_, files) => {
    expect(ourDiff(files)).toBe(realDiff(files));
  });

  it('unchanged files are left out', () => {
    expect(ourDiff({ 'a.txt': [c('a\n'), c('a\n')], 'b.txt': [null, null] })).toBe('');
  });

  it('files outside the root are named by their whole path', () => {
    const text = gitDiff([{ path: '/elsewhere/f', before: null, after: state(c('x\n')) }], base);
    expect(text.split('\n')[0]).toBe('diff --git a/elsewhere/f b/elsewhere/f');
  });

  it('blob ids are those of git hash-object', () => {
    expect(gitBlobId(Buffer.from('hello ü\n'))).toBe(git(['hash-object', '--stdin'], 'hello ü\n').trim());
  });
});

describeIf('git', 'unifiedHunks', () => {
  beforeAll(() => void git(['init', '-q', '.']));

  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'd', '', 'a\r', ' x'), { maxLength: 25 })
    .chain(lines => fc.boolean().map(end => lines.join('\n') + (end && lines.length > 0 ? '\n' : '')));

  it('turns any text into any other with git apply', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = ourDiff({ f: [c(before), c(after)] });
        put(path.join(base, 'f'), c(before));
        if (diff) git(['apply', '--unidiff-zero', '--whitespace=nowarn', '-'], diff);
        expect(fs.readFileSync(path.join(base, 'f'), 'utf8')).toBe(after);
      }),
      { numRuns: 60 },
    );
  });

  it('is empty for equal texts and has no file lines', () => {
    expect(unifiedHunks('a\n', 'a\n')).toBe('');
    expect(unifiedHunks('a\nb\n', 'a\nB\n')).toBe('@@ -1,2 +1,2 @@\n a\n-b\n+B\n');
  });

  it('sees a change of bytes that are no UTF-8', () => {
    expect(unifiedHunks(Buffer.from([0xe9, 10]), Buffer.from([0xe8, 10]))).toBe('@@ -1 +1 @@\n-\ufffd\n+\ufffd\n');
  });

  it('shows a rewritten large file as replaced instead of looking for the cheapest edit', () => {
    const before = Array.from({ length: 20_000 }, (_, i) => `old ${i}\n`).join('');
    const after = Array.from({ length: 20_000 }, (_, i) => `new ${i}\n`).join('');
    const hunks = unifiedHunks(before, after);
    expect(hunks.startsWith('@@ -1,20000 +1,20000 @@\n-old 0\n')).toBe(true);
    expect(hunks.endsWith('+new 19999\n')).toBe(true);
  });
});
