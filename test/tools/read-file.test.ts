import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ReadFileCall, readFile } from '../../src/tools/index.js';
import { workspace } from './apply-patch-support.js';
import { type CallOptions, callAction, hiding } from './call-action.js';

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function read(cwd: string, file: string, more: Partial<ReadFileCall> = {}, options?: CallOptions) {
  const position = { name: 'offset', base: 1 } as const;
  return callAction<ReadFileCall>(readFile, { path: file, images: false, position, ...more }, cwd, options);
}

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('');

describe('reading a file', () => {
  test.each([
    ['numbers its lines', 'one\ntwo\n', '     1\tone\n     2\ttwo'],
    ['counts a last line without a newline', 'one\n\ntwo', '     1\tone\n     2\t\n     3\ttwo'],
    ['leaves out \\r and a byte order mark', '\uFEFFone\r\ntwo\r\n', '     1\tone\n     2\ttwo'],
    ['says that it is empty', '', '(f is empty)'],
    ['stands for what is not UTF-8', Buffer.from([97, 0xe9, 10]), '     1\ta\uFFFD'],
  ])('%s', async (_, content, expected) => {
    const root = workspace({ f: content });
    expect(await read(root, 'f')).toMatchObject({ output: expected.replace('(f', `(${root}/f`), is_error: false });
  });

  test.each([
    [{ offset: 2, limit: 1 }, '     2\tline 2\n(lines 2 to 2 of 4; go on with offset 3)'],
    [{ offset: 3 }, '     3\tline 3\n     4\tline 4\n(the end; 4 lines in all)'],
    [{ offset: -1 }, '     4\tline 4\n(the end; 4 lines in all)'],
    [{ offset: -9, limit: 1 }, '     1\tline 1\n(lines 1 to 1 of 4; go on with offset 2)'],
    [{ offset: 0, limit: 0 }, '     1\tline 1\n(lines 1 to 1 of 4; go on with offset 2)'],
    [
      { limit: 3, position: { name: 'skip', base: 0 } },
      '     1\tline 1\n     2\tline 2\n     3\tline 3\n(lines 1 to 3 of 4; go on with skip 3)',
    ],
  ] as const)('takes the lines that %j asks for and says where to go on', async (more, expected) => {
    expect((await read(workspace({ f: lines(4) }), 'f', more)).output).toBe(expected);
  });

  test('stops at 2000 lines and at the budget of an output, always at the end of a line', async () => {
    const root = workspace({ f: lines(5000) });
    expect((await read(root, 'f')).output).toMatch(/line 2000\n\(lines 1 to 2000 of 5000; go on with offset 2001\)$/);
    const small = await read(root, 'f', {}, { output_budget_bytes: 100 });
    expect(small.output).toMatch(/ 7\tline 7\n\(lines 1 to 7 of 5000; go on with offset 8\)$/);
  });

  test('cuts lines that are very long, between characters, and always shows the first', async () => {
    const root = workspace({ f: `${'x'.repeat(1999)}😀yy\nz\n` });
    const { output } = await read(root, 'f', {}, { output_budget_bytes: 10 });
    expect(output).toBe(`     1\t${'x'.repeat(1999)}… (4 characters more)\n(lines 1 to 1 of 2; go on with offset 2)`);
  });

  test.each([
    ['gone', /gone does not exist/],
    ['dir', /dir is a directory/],
    ['bin', /bin is not a text file \(3 bytes/],
    ['f', /f has 4 lines; there is none at line 5/],
    ['/dev/zero', /is not a regular file/],
    ['picture.png', /is a picture, and you can't be shown pictures/],
  ])('says what is wrong with %s', async (file, message) => {
    const root = workspace({ f: lines(4), 'dir/x': '', bin: Buffer.from([1, 0, 2]), 'picture.png': PNG });
    expect(await read(root, file, { offset: 5 })).toMatchObject({
      is_error: true,
      output: expect.stringMatching(message),
    });
  });

  test('shows a picture to a model that can see', async () => {
    const root = workspace({ 'p.png': PNG });
    const { output, events } = await read(root, 'p.png', { images: true });
    expect(output).toBe(`data:image/png;base64,${PNG.toString('base64')}`);
    expect(events.map(event => event.type)).toEqual(['item.started', 'item.completed']);
  });

  test('is shown to those who watch as a command that reads', async () => {
    const root = workspace({ f: 'one\n' });
    const file = path.join(root, 'f');
    const item = {
      type: 'command_execution',
      id: 'call_1',
      process_id: null,
      command: ['read_file', file],
      cwd: root,
      parsed: [{ type: 'read', cmd: `read_file ${file}`, name: 'f', path: file }],
      source: 'agent',
    };
    const { events } = await read(root, 'f');
    expect(events).toMatchObject([
      { type: 'item.started', item: { ...item, status: 'in_progress', aggregated_output: '', exit_code: null } },
      {
        type: 'item.completed',
        item: { ...item, status: 'completed', aggregated_output: '     1\tone', exit_code: 0 },
      },
    ]);
    const failed = await read(root, 'gone');
    expect(failed.events).toMatchObject([{}, { item: { status: 'failed', exit_code: 1 } }]);
  });
});

test
  .runIf(process.platform === 'linux')
  .each(['/proc/self/status', '/proc/self/environ', '/dev/fd/../self/status', 'link'])(
  'what this process is and knows is not shown: %s',
  async file => {
    const root = workspace();
    fs.symlinkSync('/proc/self/status', path.join(root, 'link'));
    const result = await read(root, file);
    expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/view into this process|not exist/) });
    expect(result.output).not.toMatch(/PATH=|Pid:/);
  },
);

describe('a file that the policy hides is not read', () => {
  const HIDDEN = { is_error: true, output: expect.stringMatching(/can't be read: it is denied/) };

  test.each(['secret/key', 'link', 'folder/key'])('by the path %s', async file => {
    const root = workspace({ 'secret/key': 'hunter2' });
    fs.symlinkSync('secret/key', path.join(root, 'link'));
    fs.symlinkSync('secret', path.join(root, 'folder'));
    const policy = hiding(path.join(root, 'secret'));
    expect(await read(root, file, {}, { policy })).toMatchObject(HIDDEN);
    expect(await read(root, file)).toMatchObject({ is_error: false });
  });

  test('as a picture either', async () => {
    const root = workspace({ 'secret/p.png': PNG });
    const result = await read(root, 'secret/p.png', { images: true }, { policy: hiding(path.join(root, 'secret')) });
    expect(result).toMatchObject(HIDDEN);
  });
});
