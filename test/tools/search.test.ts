import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FindFilesCall, findFiles, type SearchFilesCall, searchFiles } from '../../src/tools/index.js';
import { describeIf } from '../support/requires.js';
import { workspace } from './apply-patch-support.js';
import { type CallOptions, callAction, hiding, WITH_RIPGREP } from './call-action.js';

const find = (cwd: string, call: FindFilesCall, options?: CallOptions) => callAction(findFiles, call, cwd, options);
const search = (cwd: string, call: Partial<SearchFilesCall> & { pattern: string }, options?: CallOptions) =>
  callAction<SearchFilesCall>(searchFiles, { show: 'lines', ...call }, cwd, options);

const TREE = {
  '.gitignore': '*.log\nbuild\n',
  '.github/ci.yml': 'run: Hello\n',
  '.git/config': 'hello\n',
  'readme.md': 'Hello\nworld\n',
  'src/a.ts': 'one\nhello world\nthree\nfour\n',
  'src/deep/b.ts': 'hello\n',
  'build/out.ts': 'hello\n',
  'x.log': 'hello\n',
};

/** Older ones first in the list. */
function age(root: string, ...files: string[]): void {
  for (const [i, file] of files.entries()) fs.utimesSync(path.join(root, file), 1000 + i, 1000 + i);
}

const sorted = (output: string) => output.split('\n').sort();

describe('finding files', () => {
  test.each([
    ['src/**/*.ts', ['src/a.ts', 'src/deep/b.ts']],
    ['src/*.ts', ['src/a.ts']],
    ['./src/*.ts', ['src/a.ts']],
    ['*.ts', ['src/a.ts', 'src/deep/b.ts']],
    ['**/*.{md,yml}', ['.github/ci.yml', 'readme.md']],
    ['**', ['.github/ci.yml', '.gitignore', 'readme.md', 'src/a.ts', 'src/deep/b.ts']],
    ['config', ['No files found.']],
    ['*.log', ['No files found.']],
  ])('by %s', async (pattern, expected) => {
    const { output, is_error } = await find(workspace(TREE), { pattern });
    expect({ found: sorted(output), is_error }).toEqual({ found: expected, is_error: false });
  });

  test('in another folder, by an absolute pattern, and outside of the working directory', async () => {
    const root = workspace(TREE);
    expect((await find(root, { pattern: '*.ts', path: 'src/deep' })).output).toBe('src/deep/b.ts');
    expect((await find(root, { pattern: `${root}/src/*.ts` })).output).toBe('src/a.ts');
    const other = workspace({ 'o.ts': '' });
    expect((await find(root, { pattern: '*.ts', path: other })).output).toBe(path.join(other, 'o.ts'));
  });

  test('the last changed first, and no more than wanted', async () => {
    const root = workspace({ a: '', b: '', c: '' });
    age(root, 'b', 'a', 'c');
    expect((await find(root, { pattern: '*' })).output).toBe('c\na\nb');
    expect((await find(root, { pattern: '*', limit: 2 })).output).toBe('c\na\n(files 1 to 2 of 3)');
  });

  test('with those that .gitignore names, and with folders, where that is asked for', async () => {
    const root = workspace(TREE);
    expect(sorted((await find(root, { pattern: '**/out.ts', include_ignored: true })).output)).toEqual([
      'build/out.ts',
    ]);
    const folders = await find(root, { pattern: 'src/**', include_folders: true });
    expect(sorted(folders.output)).toEqual(['src/', 'src/a.ts', 'src/deep/', 'src/deep/b.ts']);
  });

  test('fails for a folder that is not there', async () => {
    const result = await find(workspace(), { pattern: '*', path: 'gone' });
    expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/^The search failed: .*gone/) });
  });
});

describe('searching files', () => {
  test.each([
    ['lines with their numbers', {}, ['src/a.ts:2:hello world', 'src/deep/b.ts:1:hello']],
    ['names of files', { show: 'files' }, ['src/a.ts', 'src/deep/b.ts']],
    ['counts', { show: 'counts' }, ['src/a.ts:1', 'src/deep/b.ts:1']],
    ['any case', { ignore_case: true, path: 'readme.md' }, ['readme.md:1:Hello']],
    ['hidden files', { ignore_case: true, glob: '*.yml' }, ['.github/ci.yml:1:run: Hello']],
    ['without line numbers', { line_numbers: false, path: 'src/deep' }, ['src/deep/b.ts:hello']],
    [
      'context',
      { path: 'src/a.ts', before: 1, after: 1 },
      ['src/a.ts-1-one', 'src/a.ts-3-three', 'src/a.ts:2:hello world'],
    ],
    ['a type', { type: 'md', ignore_case: true }, ['readme.md:1:Hello']],
    ['ignored files', { include_ignored: true, show: 'files', path: 'build' }, ['build/out.ts']],
    ['several lines', { pattern: 'one.hello', multiline: true }, ['src/a.ts:1:one', 'src/a.ts:2:hello world']],
    ['what looks like an option', { pattern: '--files' }, ['No matches found.']],
    ['what looks like a shell command', { pattern: '$(touch pwned)' }, ['No matches found.']],
    ['with look-around', { pattern: '(?<=hello )world' }, ['src/a.ts:2:hello world']],
  ] as [string, Partial<SearchFilesCall>, string[]][])('gives %s', async (_, call, expected) => {
    const root = workspace(TREE);
    const { output, is_error } = await search(root, { pattern: 'hello', ...call });
    expect({ found: sorted(output), is_error }).toEqual({ found: expected, is_error: false });
    expect(fs.existsSync(path.join(root, 'pwned'))).toBe(false);
  });

  test('gives a part of what is found, and says which', async () => {
    const root = workspace({ f: Array.from({ length: 400 }, (_, i) => `hit ${i + 1}\n`).join('') });
    const usual = (await search(root, { pattern: 'hit' })).output.split('\n');
    expect([usual[0], usual.at(-2), usual.at(-1)]).toEqual(['f:1:hit 1', 'f:250:hit 250', '(lines 1 to 250 of 400)']);
    expect((await search(root, { pattern: 'hit', offset: 399 })).output).toBe(
      'f:400:hit 400\n(lines 400 to 400 of 400)',
    );
    expect((await search(root, { pattern: 'hit', limit: 0 })).output.split('\n')).toHaveLength(400);
    const small = await search(root, { pattern: 'hit' }, { output_budget_bytes: 25 });
    expect(small.output).toBe('f:1:hit 1\nf:2:hit 2\n(lines 1 to 2 of 400)');
  });

  test('cuts long lines', async () => {
    const { output } = await search(workspace({ f: `hit ${'x'.repeat(5000)}\n` }), { pattern: 'hit' });
    expect(output.length).toBeLessThan(700);
  });

  test('says what is wrong with an expression', async () => {
    const result = await search(workspace(TREE), { pattern: '(' });
    expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/^The search failed: .*regex/) });
  });

  test('is not run with the settings of a person, which could start programs', async () => {
    const root = workspace({ ...TREE, rc: '--pre=/bin/false\n' });
    const env = { ...WITH_RIPGREP, RIPGREP_CONFIG_PATH: `${root}/rc` };
    const result = await search(root, { pattern: 'three' }, { env });
    expect(result.output).toBe('src/a.ts:3:three');
  });

  test('says so where there is no ripgrep', async () => {
    const result = await search(workspace(TREE), { pattern: 'x' }, { env: { PATH: '/nonexistent' } });
    expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/^The search (was not run|failed)/) });
  });

  test('ends with the turn', async () => {
    const result = await search(workspace(TREE), { pattern: 'x' }, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ is_error: true, output: 'aborted by user' });
  });

  test('is shown to those who watch as the command that it is', async () => {
    const root = workspace(TREE);
    const { events } = await search(root, { pattern: 'hello', path: 'src/deep' });
    expect(events).toMatchObject([
      { type: 'item.started', item: { type: 'command_execution', status: 'in_progress', process_id: null } },
      {
        type: 'item.completed',
        item: {
          command: expect.arrayContaining(['rg', '--regexp=hello', './src/deep']),
          parsed: [{ type: 'search', query: 'hello', path: 'src/deep' }],
          status: 'completed',
          aggregated_output: 'src/deep/b.ts:1:hello',
        },
      },
    ]);
  });
});

describeIf('bubblewrap', 'in the sandbox', () => {
  test('what the policy hides is neither found nor searched', async () => {
    const root = workspace({ 'secret/key.ts': 'hello\n', 'open.ts': 'hello\n' });
    const policy = hiding(path.join(root, 'secret'));
    expect((await find(root, { pattern: '*.ts' }, { policy })).output).toBe('open.ts');
    expect((await search(root, { pattern: 'hello' }, { policy })).output).toBe('open.ts:1:hello');
    const direct = await search(root, { pattern: 'hello', path: 'secret/key.ts' }, { policy });
    expect(direct.output).not.toContain('1:hello');
  });
});
