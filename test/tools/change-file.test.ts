import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeFile, type FileChangeCall } from '../../src/tools/index.js';
import { workspaceWrite } from '../support/policies.js';
import { directory, snapshot, workspace } from './apply-patch-support.js';
import { type Called, type CallOptions, callAction, hiding } from './call-action.js';

function change(cwd: string, file: string, what: FileChangeCall['change'], options?: CallOptions): Promise<Called> {
  return callAction<FileChangeCall>(changeFile, { path: file, change: what }, cwd, options);
}

const replace = (old: string, by: string, all = false) => ({ type: 'replace', old, new: by, all }) as const;
const write = (content: string) => ({ type: 'write', content }) as const;
const append = (content: string) => ({ type: 'append', content }) as const;

/** What becomes of a file; a refusal leaves it alone. */
async function edited(before: string | Buffer, old: string, by: string, all = false): Promise<string | Buffer> {
  const root = workspace({ f: before });
  const result = await change(root, 'f', replace(old, by, all));
  if (!result.is_error) return fs.readFileSync(path.join(root, 'f'), 'latin1');
  expect(snapshot(root)).toEqual({ f: Buffer.from(before).toString('latin1') });
  return result.output;
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('replacing a text changes nothing but that text', () => {
  test.each([
    ['in the middle of a line', 'a b c\n', 'b', 'x', 'a x c\n'],
    ['over several lines', 'a\nb\nc\n', 'a\nb', 'x', 'x\nc\n'],
    ['at the end of a file without a final newline', 'a\nb', 'b', 'c', 'a\nc'],
    ['and can take it away', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
    ['with blanks at the ends of lines', 'a  \n\tb\n', 'a  \n\tb', 'x', 'x\n'],
    ['behind a byte order mark', '\uFEFFa\nb\n', 'a', 'x', '\uFEFFx\nb\n'],
    ['beyond ASCII', 'größe 大小\n', '大小', 'μέγεθος', 'größe μέγεθος\n'],
    ['that looks like a pattern for replacements', 'a.b\n', 'a.b', '$&$1\\n', '$&$1\\n\n'],
  ])('%s', async (_, before, old, by, after) => {
    expect(await edited(before, old, by)).toBe(latin1(after));
  });

  test.each([
    ['line feeds of the model stand for those of the file', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\nc\r\n'],
    ['a text that starts with a line feed', 'a\r\nb\r\n', '\nb', '\nc\nd', 'a\r\nc\r\nd\r\n'],
    ['a text that ends with one', 'a\r\nb\r\n', 'a\n', 'x\ny\n', 'x\r\ny\r\nb\r\n'],
    ['a new line in a text of one line', 'a\r\nb\r\n', 'b', 'b\nc', 'a\r\nb\r\nc\r\n'],
    ['the last line, which has no ending', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
    ['each line keeps its own in a mixed file', 'a\nb\r\nc\nd\r\n', 'b\nc', 'x\ny', 'a\nx\r\ny\nd\r\n'],
    ['a model that writes both', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\n'],
    ['a line feed alone is not made two', 'a\nb\n', 'b', 'b\nc', 'a\nb\nc\n'],
  ])('with \\r\\n: %s', async (_, before, old, by, after) => {
    expect(await edited(before, old, by)).toBe(after);
  });

  test('in a file of another encoding, as long as the new text is ASCII', async () => {
    const before = Buffer.from('caf\xe9 a\n', 'latin1');
    expect(await edited(before, ' a', ' b')).toBe('caf\xe9 b\n');
    expect(await edited(before, ' a', ' ä')).toMatch(/f is not UTF-8.*must be ASCII/);
  });

  test('for any file and any text that is in it once', async () => {
    const root = workspace();
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '界'), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (before, after, by) => {
        const file = `${before}«old»${after}`;
        fs.writeFileSync(path.join(root, 'f'), file);
        const result = await change(root, 'f', replace('«old»', by));
        expect(result.is_error).toBe(false);
        expect(fs.readFileSync(path.join(root, 'f'), 'utf8')).toBe(before + by + after);
      }),
      { numRuns: 150 },
    );
  });

  test('in any bytes with any line endings: the bytes around it stay', async () => {
    const root = workspace();
    const bytes = fc
      .array(fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constantFrom(10, 13)), { maxLength: 30 })
      .map(list => Buffer.from(list));
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (before, after) => {
        fs.writeFileSync(path.join(root, 'f'), Buffer.concat([before, Buffer.from('<OLD>'), after]));
        const result = await change(root, 'f', replace('<OLD>', '<NEW TEXT>'));
        expect(result.is_error).toBe(false);
        const expected = Buffer.concat([before, Buffer.from('<NEW TEXT>'), after]);
        expect(fs.readFileSync(path.join(root, 'f')).equals(expected)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a text that does not fit exactly one place', () => {
  test('is refused with the lines where it stands', async () => {
    expect(await edited('a\nb\na\n', 'a', 'x')).toMatch(/occurs 2 times in f \(line 1, 3\).*replace_all/);
  });

  test('is replaced everywhere when that is asked for', async () => {
    expect(await edited('aXaXa', 'a', 'bb', true)).toBe('bbXbbXbb');
    expect(await edited('aaaa', 'aa', 'a', true)).toBe('aa');
    expect(await edited('a\r\na\r\n', 'a\n', 'b\n', true)).toBe('b\r\nb\r\n');
  });

  test.each([
    [
      'the nearest place and the first difference',
      'one\n  two\nthree\n',
      'one\n\ttwo',
      /closest place starts at line 1; first difference, line 2:\n {2}expected: "\\ttwo"\n {2}found: {4}" {2}two"/,
    ],
    ['line numbers that were copied along', 'one\ntwo\n', '     1\tone\n     2\ttwo', /Leave out the line numbers/],
    ['that nothing is similar', 'one\n', 'qqqqqqq', /old_string is not in f\.$/],
    ['that the file is empty', '', 'x', /The file is empty/],
    ['that old and new are the same', 'a\n', 'a', /are the same/],
  ])('is explained: %s', async (_, before, old, message) => {
    expect(await edited(before, old, 'a')).toMatch(message);
  });
});

describe('writing a whole file', () => {
  test('makes it, with the folders it lies in', async () => {
    const root = workspace();
    const result = await change(root, 'a/b/new.txt', write('one\ntwo\n'));
    expect(result).toMatchObject({ output: 'Made a/b/new.txt (2 lines).', is_error: false });
    expect(snapshot(root)).toEqual({ a: '/', 'a/b': '/', 'a/b/new.txt': 'one\ntwo\n' });
  });

  test('replaces all of its content byte for byte and keeps its mode', async () => {
    const root = workspace({ 'run.sh': 'old\r\n' });
    fs.chmodSync(path.join(root, 'run.sh'), 0o755);
    const result = await change(root, 'run.sh', write('a\r\nb\nc'));
    expect(result).toMatchObject({ output: 'Replaced the content of run.sh (3 lines).', is_error: false });
    expect(snapshot(root)).toEqual({ 'run.sh': 'a\r\nb\nc' });
    expect(fs.statSync(path.join(root, 'run.sh')).mode & 0o777).toBe(0o755);
  });

  test('goes through a link to the file it leads to', async () => {
    const root = workspace({ real: 'old' });
    fs.symlinkSync('real', path.join(root, 'link'));
    await change(root, 'link', write('new'));
    expect(snapshot(root)).toEqual({ real: 'new', link: '-> real' });
  });

  test('appends to what is there, or makes it', async () => {
    const root = workspace({ f: 'a' });
    await change(root, 'f', append('b\n'));
    await change(root, 'new', append('c'));
    expect(snapshot(root)).toEqual({ f: 'ab\n', new: 'c' });
  });

  test('an empty old text makes a new file and never replaces one', async () => {
    const root = workspace({ full: 'x', empty: '' });
    for (const file of ['new', 'empty']) {
      expect(await change(root, file, replace('', 'y'))).toMatchObject({ output: `Made ${file} (1 line).` });
    }
    const refused = await change(root, 'full', replace('', 'y'));
    expect(refused.output).toMatch(/stands for a new file, but full exists/);
    expect(snapshot(root)).toEqual({ full: 'x', empty: 'y', new: 'y' });
  });

  test.each([
    ['a directory', 'dir', /is a directory/],
    ['a path that ends in a slash', 'new/', /names a directory/],
    ['a file below a file', 'f/x', /is a file, not a directory/],
    ['a binary file', 'bin', /not a text file/],
  ])('refuses %s', async (_, file, message) => {
    const root = workspace({ f: 'x', 'dir/y': 'y', bin: Buffer.from([1, 0, 2]) });
    const before = snapshot(root);
    expect(await change(root, file, write('z'))).toMatchObject({
      is_error: true,
      output: expect.stringMatching(message),
    });
    expect(snapshot(root)).toEqual(before);
  });

  test('refuses what is not there, where a text is to be replaced', async () => {
    expect((await change(workspace(), 'gone', replace('a', 'b'))).output).toMatch(/gone does not exist/);
  });
});

describe('a change of a file is one of a patch', () => {
  test('for the verdict, the question and the events', async () => {
    const root = workspace({ f: 'one\ntwo\n' });
    const { plan, events } = await change(root, 'f', replace('two', '2'));
    const file = path.join(root, 'f');
    const changes = { [file]: { type: 'update', unified_diff: '@@ -1,2 +1,2 @@\n one\n-two\n+2\n', move_path: null } };
    const item = { type: 'file_change', id: 'call_1', changes, auto_approved: true };
    expect(plan).toEqual({
      type: 'act',
      action: { type: 'patch', changes, writes: [file], cwd: root },
      item: { ...item, status: 'in_progress', stdout: '', stderr: '' },
    });
    const stdout = 'Success. Updated the following files:\nM f\n';
    const at_ms = expect.any(Number);
    expect(events).toEqual([
      { type: 'item.completed', item: { ...item, status: 'completed', stdout, stderr: '' }, at_ms },
    ]);
  });

  test('what another program wrote meanwhile is not overwritten', async () => {
    const root = workspace({ f: 'one' });
    const meanwhile = () => fs.writeFileSync(path.join(root, 'f'), 'other');
    const result = await change(root, 'f', replace('one', 'two'), { meanwhile });
    expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/changed meanwhile/) });
    expect(snapshot(root)).toEqual({ f: 'other' });
  });

  test.each([
    ['in a workspace', workspaceWrite(), 'f', null],
    ['outside of it', workspaceWrite(), '../outside/f', /lies outside/],
    ['behind a link out of it', workspaceWrite(), 'out/f', /lies outside/],
    ['in a protected folder', workspaceWrite(), '.git/config', /is protected/],
    ['where nothing may be written', { type: 'read-only' } as const, 'f', /read-only/],
  ])('is held to the policy while writing: %s', async (_, policy, file, refusal) => {
    const top = directory();
    const root = path.join(top, 'work');
    for (const folder of ['work/.git', 'outside']) fs.mkdirSync(path.join(top, folder), { recursive: true });
    fs.symlinkSync('../outside', path.join(root, 'out'));
    const result = await change(root, file, write('x'), { policy });
    expect(result.output).toMatch(refusal ?? /^Made f/);
    expect(result.is_error).toBe(refusal !== null);
    expect(fs.existsSync(path.resolve(root, file))).toBe(refusal === null);
  });

  test('neither shows nor replaces a file that may not be read', async () => {
    const root = workspace({ 'secret/key': 'hunter2\n' });
    for (const what of [replace('hunter3', 'x'), write('x'), append('x')]) {
      const result = await change(root, 'secret/key', what, { policy: hiding(path.join(root, 'secret')) });
      expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/can't be read.*denied/) });
      expect(result.output).not.toContain('hunter2');
    }
    expect(snapshot(root)).toEqual({ secret: '/', 'secret/key': 'hunter2\n' });
  });
});
