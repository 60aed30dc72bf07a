import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyPatchTool } from '../../src/tools/index.js';
import {
  applyPatch,
  directory,
  type Files,
  facts,
  patchText,
  snapshot,
  update,
  workspace,
} from './apply-patch-support.js';

const latin1 = (text: string | Buffer) => Buffer.from(text as string).toString('latin1');

/** Applies the lines as an update of `f`, which holds `before`. */
async function edit(before: string | Buffer, lines: string[], raw = update('f', ...lines)) {
  const root = workspace({ f: before });
  const { output, is_error } = await applyPatch(root, raw);
  return { file: snapshot(root)['f'], output, is_error };
}

describe('an update', () => {
  const K3 = 'k\nm\nk\n';
  const CLASSES = 'class A:\n  def f():\n    1\nclass B:\n  def f():\n    1\n';
  // before, patch lines, after
  const table: Record<string, [string, string[], string]> = {
    'needs no @@ for its first chunk': ['a\nb\n', ['-b', '+B'], 'a\nB\n'],
    'takes the first of equal places': ['k\nk\n', ['@@', '-k', '+K'], 'K\nk\n'],
    'applies chunks one below the other': [K3, ['@@', '-k', '+1', '@@', '-k', '+2'], '1\nm\n2\n'],
    'skips to below an anchor': [CLASSES, ['@@ class B:', '-    1', '+    2'], CLASSES.replace(/1\n$/, '2\n')],
    'searches stacked anchors one below the other': [
      CLASSES,
      ['@@ class B:', '@@   def f():', '-    1', '+    2'],
      CLASSES.replace(/1\n$/, '2\n'),
    ],
    'takes an anchor closed with @@': ['a\nk\nb\nk\n', ['@@ b @@', '-k', '+K'], 'a\nk\nb\nK\n'],
    'takes an anchor that is repeated as context': ['a\nb\nc\n', ['@@ b', ' b', '-c', '+C'], 'a\nb\nC\n'],
    'keeps to the last lines with *** End of File': [K3, ['@@', '-k', '+K', '*** End of File'], 'k\nm\nK\n'],
    'adds at the end without anchor': ['a\nb\n', ['@@', '+c'], 'a\nb\nc\n'],
    'adds right below its anchor': ['a\nb\nc\n', ['@@ a', '+x', '+y'], 'a\nx\ny\nb\nc\n'],
    'adds at the end with an anchor and *** End of File': ['a\nb\n', ['@@ a', '+c', '*** End of File'], 'a\nb\nc\n'],
    'adds at the end and still changes lines above': ['a\nb\n', ['@@', '+c', '@@', '-a', '+A'], 'A\nb\nc\n'],
    'adds to an empty file': ['', ['@@', '+a'], 'a\n'],
    'adds above the first line': ['a\n', ['@@', '+x', ' a'], 'x\na\n'],
    'reads an empty line as empty context': ['a\n\nb\n', ['@@', ' a', '', '-b', '+B'], 'a\n\nB\n'],
    'forgives an empty line too many at the end': ['a\nb\n', ['@@', ' a', '-b', '+B', ' '], 'a\nB\n'],
    'forgives several empty lines between chunks': [
      'a\nb\n',
      ['@@', '-a', '+A', '', '', '@@', '-b', '+B', ''],
      'A\nB\n',
    ],
    'forgives empty lines behind lines that are only added': ['a\n\nb\n', ['@@', '+c', ''], 'a\n\nb\nc\n'],
    'reads a tab as indented context': ['f\n\tx\n\ty\n', ['@@', '\tx', '-\ty', '+\tz'], 'f\n\tx\n\tz\n'],
    'deletes lines': ['a\nb\nc\n', ['@@', '-b'], 'a\nc\n'],
    'deletes every line': ['a\nb\n', ['@@', '-a', '-b'], ''],
    'replaces several runs in one chunk': ['a\nb\nc\nd\n', ['@@', '-a', '+A', ' b', '-c', ' d', '+e'], 'A\nb\nd\ne\n'],
    'with plain line numbers goes to the only place': ['a\nb\n', ['@@ -7,2 +7,2 @@', '-a', '+A', ' b'], 'A\nb\n'],
    'with line numbers decides between equal places': [K3, ['@@ -3,1 +3,1 @@ f()', '-k', '+K'], 'k\nm\nK\n'],
    'ignores the file lines of a unified diff': ['a\n', ['--- a/f', '+++ b/f', '@@ -1 +1 @@', '-a', '+A'], 'A\n'],
    'writes what looks like a marker': ['a\n', ['@@', '-a', '+*** End Patch', '+@@ x'], '*** End Patch\n@@ x\n'],

    'prefers an exact place below to a lenient one above': ['  k\nm\nk\n', ['@@', '-k', '+K'], '  k\nm\nK\n'],
    'matches trailing blanks': ['a \t\nb\n', ['@@', '-a', '+A', ' b'], 'A\nb\n'],
    'matches indentation': ['\ta\nb\n', ['@@', '-    a', '+    A', ' b'], '    A\nb\n'],
    'matches typographic characters': ['“a” — b\u00a0c\u2009d\n', ['@@', '-"a" - b c d', '+x'], 'x\n'],
    'keeps the spelling of context': [
      'a — “b”\u00a0c  \n\tz\n',
      ['@@', ' a - "b" c', '-z', '+Z'],
      'a — “b”\u00a0c  \nZ\n',
    ],
    'writes new text exactly': ['a\n', ['@@', '-a', '+“x” — y\u00a0z\t  '], '“x” — y\u00a0z\t  \n'],

    'keeps CRLF and gives it to new lines': [
      'a\r\nb\r\n',
      ['@@', ' a', '+n', '-b', '+B', '+C'],
      'a\r\nn\r\nB\r\nC\r\n',
    ],
    'gives new lines the ending of their neighbours': [
      'a\r\nb\nc\r\nd\n',
      ['@@', ' a', '+1', ' b', '+2', '-c', '+C', ' d', '+3'],
      'a\r\n1\r\nb\n2\r\nC\r\nd\n3\n',
    ],
    'keeps a missing final newline': ['a\nb', ['@@', '-a', '+A', ' b'], 'A\nb'],
    'of the last line keeps a missing final newline': ['a\r\nb', ['@@', '-b', '+B', '+C'], 'a\r\nB\r\nC'],
    'adds below a last line without newline': ['a\nb', ['@@', '+c'], 'a\nb\nc'],
    'removes a last line without newline': ['a\nb', ['@@', '-b'], 'a'],
    'of the last line and below it keeps a missing final newline': ['a', ['@@', '-a', '+A', '@@', '+c'], 'A\nc'],
    'can add the final newline': ['a\nb', ['@@', '-b', '+b', '+'], 'a\nb\n'],
    'keeps a byte order mark': ['\ufeffa\nb\n', ['@@', ' a', '-b', '+B'], '\ufeffa\nB\n'],
    'matches line 1 without the byte order mark': ['\ufeffa\nb\n', ['@@', '-a', '+A'], '\ufeffA\nb\n'],
    'does not double a byte order mark': ['\ufeffa\n', ['@@', '-\ufeffa', '+\ufeffA'], '\ufeffA\n'],
    'leaves lone carriage returns and form feeds alone': ['a\rb\n\f\nc\n', ['@@', '-c', '+C'], 'a\rb\n\f\nC\n'],
  };
  it.each(Object.entries(table))('%s', async (_, [before, lines, after]) => {
    const { file, output } = await edit(before, lines);
    expect({ file, output }).toMatchObject({ file: latin1(after) });
    expect(output).toBe('Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM f\n');
  });

  const refused: Record<string, [string, string[], RegExp]> = {
    'whose lines are not there': [
      'a\n',
      ['@@', '-zzz', '+b'],
      /f: chunk 1 of 1 \(line 3 of the patch\).*similar\.\n {2}expected: "zzz"$/,
    ],
    'that differs in case': ['Abc\n', ['@@', '-abc', '+x'], /line 1:\n {2}expected: "abc"\n {2}found: {4}"Abc"/],
    'that differs in inner blanks': ['a  b\n', ['@@', '-a b', '+x'], /expected: "a b"\n {2}found: {4}"a {2}b"/],
    'that goes up in the file': [
      'a\nb\nc\n',
      ['@@', '-c', '+C', '@@', '-a', '+A'],
      /chunk 2 of 2.*at line 1, but the search starts at line 4/,
    ],
    'whose anchor is missing': [
      'a\nb\n',
      ['@@ q', '-b', '+B'],
      /line after '@@' is not in the file.*\n {2}expected: "q"/,
    ],
    'whose anchor is above': [
      'a\nb\nc\n',
      ['@@', '-b', '+B', '@@ a', '-c', '+C'],
      /'@@' is in the file at line 1, but/,
    ],
    'whose stacked anchors stand the other way round': [
      'a\nb\nc\n',
      ['@@ b', '@@ a', '-c', '+C'],
      /is in the file at line 1/,
    ],
    'that is not at the end of the file': ['k\nm\n', ['@@', '-k', '+K', '*** End of File'], /End of File.*line 1 of 2/],
    'whose line number fits none of equal places': ['k\nm\nk\n', ['@@ -2 +2 @@', '-k', '+K'], /stand at line 1, 3/],
    'that only adds at a line number': ['a\n', ['@@ -1,0 +2 @@', '+K'], /only adds lines/],
    'with differing invisible characters': [
      'alpha\u200bbeta\n',
      ['@@', '-alphabeta', '+x'],
      /found: {4}"alpha\\u200bbeta"/,
    ],
    'that runs past the end': ['a\nb\n', ['@@', ' b', '-c', '+C'], /found: {4}\(nothing: the file has 2 lines\)/],
    'that was applied before': ['a\nB\nc\n', ['@@', ' a', '-b', '+B', ' c'], /in the file already, at line 1/],
    'with an indented marker inside': [
      'a\n',
      ['@@', '-a', '+A', ' *** Update File: g', '@@', '-x', '+y'],
      /first column/,
    ],
  };
  it.each(Object.entries(refused))('is refused %s', async (_, [before, lines, message]) => {
    const { file, output, is_error } = await edit(before, lines);
    expect(is_error).toBe(true);
    expect(output).toMatch(/^apply_patch verification failed: /);
    expect(output).toMatch(message);
    expect(file).toBe(latin1(before));
  });

  it('tells the nearest place and the first line that differs', async () => {
    const before = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('') + 'def f():\n\treturn 1\nend\n';
    const { output } = await edit(before, ['@@', ' def f():', '-    return 2', '+    return 3', ' end']);
    expect(output.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(/closest place starts at line 41; 2 of 3 lines are the same. First difference, line 42:$/),
      '  expected: "    return 2"',
      '  found:    "\\treturn 1"',
    ]);
  });

  it('keeps the text of a failure short, whatever the file holds', async () => {
    const { output } = await edit(`${'x'.repeat(1_000_000)}\n`, ['@@', `-${'x'.repeat(900_000)}y`, '+z']);
    expect(output.length).toBeLessThan(2000);
  });
});

describe('files that are not UTF-8', () => {
  const LATIN = Buffer.from('caf\xe9\nplain\nna\xefve\n', 'latin1');

  it('are edited with every other byte kept', async () => {
    const { file } = await edit(LATIN, ['@@', '-plain', '+PLAIN', '+more']);
    expect(file).toBe('caf\xe9\nPLAIN\nmore\nna\xefve\n');
  });

  it('match where a command would have shown a replacement character', async () => {
    const { file } = await edit(LATIN, ['@@', ' caf\ufffd', '-plain', '-na\ufffdve', '+ok']);
    expect(file).toBe('caf\xe9\nok\n');
  });

  it('get no line in another encoding', async () => {
    const { file, output } = await edit(LATIN, ['@@', '-plain', '+é']);
    expect(output).toMatch(/f is not UTF-8, so the new line "é" can't be written/);
    expect(file).toBe(LATIN.toString('latin1'));
  });

  it('are refused when they are binary', async () => {
    const { output } = await edit(Buffer.from('a\0b\nc\n'), ['@@', '-c', '+C']);
    expect(output).toMatch(/f is not a text file/);
  });
});

describe('the grammar', () => {
  const body = ['*** Update File: f', '@@', '-a', '+A'];
  const whole = patchText(...body);
  const wrapped: Record<string, string> = {
    'blank lines around': `\n\n${whole}\n\n \n`,
    'indented Begin and End': whole.replace(/^\*\*\* (Begin|End) Patch/gm, '  $&'),
    'everything indented': whole.replace(/^/gm, '    '),
    'an indented file header': whole.replace('*** Update', '  *** Update'),
    'a fence': `\`\`\`diff\n${whole}\n\`\`\``,
    'a here-document': `<<'EOF'\n${whole}\nEOF`,
    'a here-document with the program': `apply_patch <<EOF\n${whole}\nEOF\n`,
    'a here-document in a fence': `\`\`\`sh\napply_patch <<"PATCH"\n${whole}\nPATCH\n\`\`\``,
    'CRLF lines': whole.replaceAll('\n', '\r\n'),
    'no Begin line': whole.replace('*** Begin Patch\n', ''),
    'an environment id': whole.replace('*** Update', '*** Environment ID: local\n*** Update'),
    'JSON with input': JSON.stringify({ input: whole }),
    'JSON with patch': JSON.stringify({ patch: whole }),
    'a byte order mark': `\ufeff${whole}`,
  };
  it.each(Object.entries(wrapped))('forgives %s', async (_, raw) => {
    expect(await edit('a\nb\n', [], raw)).toMatchObject({ file: 'A\nb\n', is_error: false });
  });

  it('takes indented headers of several files', async () => {
    const root = workspace({ f: 'a\n', g: 'a\n' });
    await applyPatch(root, patchText('  *** Update File: f', '@@', '-a', '+A', '  *** Update File: g', '-a', '+B'));
    expect(snapshot(root)).toEqual({ f: 'A\n', g: 'B\n' });
  });

  it('takes two patches sent as one', async () => {
    const root = workspace({ f: 'a\n' });
    await applyPatch(root, `${update('f', '-a', '+b')}\n\n${update('f', '-b', '+c')}`);
    expect(snapshot(root)).toEqual({ f: 'c\n' });
  });

  it('takes empty lines of a new file without their plus', async () => {
    const root = workspace();
    await applyPatch(root, patchText('*** Add File: n', '+a', '', '+b', '', '*** Add File: e'));
    expect(snapshot(root)).toEqual({ n: 'a\n\nb\n', e: '' });
  });

  const broken: Record<string, [string, RegExp]> = {
    nothing: ['', /a patch starts with the line '\*\*\* Begin Patch', not with ""/],
    prose: ['Here you go', /not with "Here you go"/],
    'no End line': [
      whole.replace('\n*** End Patch', ''),
      /ends with the line '\*\*\* End Patch', not with "\+A" \(line 5\); perhaps/,
    ],
    'text behind the End line': [`${whole}\nDone!`, /line 7: nothing may follow '\*\*\* End Patch', found "Done!"/],
    'a line without prefix': [patchText(...body, 'oops'), /line 6: "oops" is no line of a chunk/],
    'an unknown header': [patchText('*** Rename File: f'), /line 2: "\*\*\* Rename File: f" belongs to no file/],
    'a line of a new file without plus': [
      patchText('*** Add File: f', '+a', 'plain'),
      /line 4: "plain" belongs to no file/,
    ],
    'no path': [patchText('*** Add File: ', '+a'), /line 2: the path of the file is missing/],
    'an update without lines': [patchText('*** Update File: f'), /line 2: the update of "f" has no lines to change/],
    'a chunk without lines': [
      patchText('*** Update File: f', '@@ x', '*** Delete File: g'),
      /line 3: no lines follow "@@ x"/,
    ],
    'lines behind the end of the file': [patchText(...body, '*** End of File', '-b'), /line 7: "-b" follows/],
    'broken JSON': ['{"input": "*** Begin', /failed to parse function arguments/],
    'JSON without a patch': ['{"text": 1}', /failed to parse function arguments/],
  };
  it.each(Object.entries(broken))('refuses %s, quoting it', async (_, [raw, message]) => {
    const { file, output, is_error } = await edit('a\nb\n', [], raw);
    expect(output).toMatch(message);
    expect({ file, is_error }).toEqual({ file: 'a\nb\n', is_error: true });
  });

  it('refuses an empty patch', async () => {
    expect((await edit('a\n', [], patchText())).output).toBe('patch rejected: empty patch');
  });
});

describe('several files', () => {
  type Case = { before: Files; lines: string[]; after: Record<string, string>; report: string };
  const applied: Record<string, Case> = {
    'are added, updated, moved and deleted, and reported by kind': {
      before: { u: 'u\n', m: 'm\n', d: 'd\n', 'p/old': 'x\n' },
      lines: [
        '*** Delete File: d',
        '*** Update File: u',
        '-u',
        '+U',
        '*** Add File: n/e/w',
        '+n',
        '*** Update File: m',
        '*** Move to: q/r/m2',
        '-m',
        '+M',
        '*** Update File: p/old',
        '*** Move to: p/new',
      ],
      after: {
        u: 'U\n',
        n: '/',
        'n/e': '/',
        'n/e/w': 'n\n',
        q: '/',
        'q/r': '/',
        'q/r/m2': 'M\n',
        p: '/',
        'p/new': 'x\n',
      },
      report: 'A n/e/w\nM u\nM q/r/m2\nM p/new\nD d\n',
    },
    'can be the same file several times': {
      before: { f: 'a\nb\n' },
      lines: ['*** Update File: f', '-b', '+B', '*** Update File: ./f', '-a', '+A'],
      after: { f: 'A\nB\n' },
      report: 'M f\nM ./f\n',
    },
    'can be added and then updated': {
      before: {},
      lines: ['*** Add File: q', '+a', '*** Update File: q', '-a', '+b'],
      after: { q: 'b\n' },
      report: 'A q\nM q\n',
    },
    'can be replaced by delete and add': {
      before: { f: 'old\n' },
      lines: ['*** Delete File: f', '*** Add File: f', '+new'],
      after: { f: 'new\n' },
      report: 'A f\nD f\n',
    },
    'can change places with what was moved away': {
      before: { a: 'A\n', b: 'B\n' },
      lines: [
        '*** Update File: a',
        '*** Move to: t',
        '*** Update File: b',
        '*** Move to: a',
        '*** Update File: t',
        '*** Move to: b',
      ],
      after: { a: 'B\n', b: 'A\n' },
      report: 'M t\nM a\nM b\n',
    },
    'can be added and deleted again': {
      before: {},
      lines: ['*** Add File: q', '+a', '*** Delete File: q'],
      after: {},
      report: 'A q\nD q\n',
    },
    'can be moved to where they are': {
      before: { f: 'a\nb\n' },
      lines: ['*** Update File: f', '*** Move to: ./f', '-a', '+A'],
      after: { f: 'A\nb\n' },
      report: 'M ./f\n',
    },
    'can be added over an empty file': {
      before: { f: '' },
      lines: ['*** Add File: f', '+a'],
      after: { f: 'a\n' },
      report: 'A f\n',
    },
  };
  it.each(Object.entries(applied))('%s', async (_, { before, lines, after, report }) => {
    const root = workspace(before);
    const { output } = await applyPatch(root, patchText(...lines));
    expect(output).toBe(
      `Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\n${report}`,
    );
    expect(snapshot(root)).toEqual(after);
  });

  const refused: Record<string, [Files, string[], RegExp]> = {
    'one chunk does not fit': [
      { a: 'a\n', b: 'b\n' },
      ['*** Update File: a', '-a', '+A', '*** Update File: b', '-nope', '+B', '*** Add File: n', '+x'],
      /\/b: chunk 1/,
    ],
    'an updated file is missing': [
      { a: 'a\n' },
      ['*** Delete File: a', '*** Update File: ghost', '-a', '+b'],
      /cannot update .*\/ghost: the file does not exist/,
    ],
    'a deleted file is missing': [{}, ['*** Delete File: ghost'], /cannot delete .*\/ghost: the file does not exist/],
    'a file was deleted before': [
      { a: 'a\n' },
      ['*** Delete File: a', '*** Update File: a', '-a', '+b'],
      /deleted earlier in this patch/,
    ],
    'a file was moved before': [
      { a: 'a\n' },
      ['*** Update File: a', '*** Move to: b', '*** Update File: a', '-a', '+b'],
      /moved to .*\/b earlier/,
    ],
    'an added file exists': [{ a: 'a\n' }, ['*** Add File: a', '+b'], /cannot add .*\/a: the file exists already/],
    'a file is added twice': [{}, ['*** Add File: a', '+b', '*** Add File: a', '+c'], /exists already/],
    'a move hits a file': [
      { a: 'a\n', b: '' },
      ['*** Update File: a', '*** Move to: b', '-a', '+A'],
      /that file exists already/,
    ],
    'a directory is deleted': [{ 'd/f': 'a\n' }, ['*** Delete File: d'], /d is a directory/],
    'a directory is updated': [{ 'd/f': 'a\n' }, ['*** Update File: d', '-a', '+b'], /d is a directory/],
    'a directory is named as a new file': [{}, ['*** Add File: d/', '+b'], /d\/ names a directory/],
    'a file is used as a directory': [{ f: 'a\n' }, ['*** Add File: f/g', '+b'], /a part of this path is a file/],
    'a new file is used as a directory': [
      {},
      ['*** Add File: f', '+a', '*** Add File: f/g', '+b'],
      /can't be a file and the directory/,
    ],
    'a name is too long': [{}, [`*** Add File: ${'x'.repeat(300)}`, '+b'], /name too long/],
  };
  it.each(Object.entries(refused))('nothing is changed when %s', async (_, [before, lines, message]) => {
    const root = workspace(before);
    const whole = snapshot(root);
    const { output, events, is_error } = await applyPatch(root, patchText(...lines));
    expect(output).toMatch(/^apply_patch verification failed: /);
    expect(output).toMatch(message);
    expect({ events, is_error, files: snapshot(root) }).toEqual({ events: [], is_error: true, files: whole });
  });

  it('may lie outside by absolute and ../ paths; the plan names their real paths', async () => {
    const other = workspace({ x: 'x\n' });
    const root = directory();
    fs.symlinkSync(other, path.join(root, 'link'));
    const up = path.relative(root, other);
    const { plan } = await applyPatch(
      root,
      patchText(
        `*** Update File: link/x`,
        '*** Move to: link/new/y',
        '-x',
        '+X',
        `*** Add File: ${other}/abs`,
        `*** Add File: ${up}/up`,
      ),
    );
    expect(plan).toMatchObject({
      action: { type: 'patch', cwd: root, writes: [`${other}/x`, `${other}/new/y`, `${other}/abs`, `${other}/up`] },
    });
    expect(snapshot(other)).toEqual({ abs: '', new: '/', 'new/y': 'X\n', up: '' });
  });
});

describe('links', () => {
  function linked() {
    const root = workspace({ real: 'a\n' });
    fs.symlinkSync('real', path.join(root, 'link'));
    return root;
  }

  it('an update through a link changes the target and keeps the link', async () => {
    const root = linked();
    const { plan } = await applyPatch(root, update('link', '-a', '+b'));
    expect(snapshot(root)).toEqual({ real: 'b\n', link: '-> real' });
    expect(plan).toMatchObject({
      action: { writes: [`${root}/real`], changes: { [`${root}/link`]: { type: 'update' } } },
    });
  });

  it('deleting a link leaves its target', async () => {
    const root = linked();
    await applyPatch(root, patchText('*** Delete File: link'));
    expect(snapshot(root)).toEqual({ real: 'a\n' });
  });

  it('a deleted link can be replaced by a file', async () => {
    const root = linked();
    await applyPatch(root, patchText('*** Delete File: link', '*** Add File: link', '+own'));
    expect(snapshot(root)).toEqual({ real: 'a\n', link: 'own\n' });
  });

  it('moving a link moves its content and leaves the target', async () => {
    const root = linked();
    await applyPatch(root, patchText('*** Update File: link', '*** Move to: n', '-a', '+b'));
    expect(snapshot(root)).toEqual({ real: 'a\n', n: 'b\n' });
  });

  it('a link to a missing file leads to where the file is made', async () => {
    const root = directory();
    fs.symlinkSync('sub/target', path.join(root, 'link'));
    const { plan } = await applyPatch(root, patchText('*** Add File: link', '+x'));
    expect(plan).toMatchObject({ action: { writes: [`${root}/sub/target`] } });
    expect(snapshot(root)).toEqual({ link: '-> sub/target', sub: '/', 'sub/target': 'x\n' });
  });

  it('a file with two names is edited through both', async () => {
    const root = linked();
    await applyPatch(root, patchText('*** Update File: link', '-a', '+b', '*** Update File: real', '-b', '+c'));
    expect(snapshot(root)).toEqual({ real: 'c\n', link: '-> real' });
  });

  it('a link that points to itself is an error', async () => {
    const root = directory();
    fs.symlinkSync('loop', path.join(root, 'loop'));
    expect((await applyPatch(root, patchText('*** Add File: loop', '+x'))).output).toMatch(
      /cannot reach .*loop: too many/,
    );
  });
});

describe('plan and item', () => {
  it('show the changes with hunks only, by absolute path', async () => {
    const root = workspace({ u: 'a\nb\n', m: 'x\n', d: 'gone\n' });
    const lines = [
      '*** Add File: n',
      '+new',
      '*** Update File: u',
      '-b',
      '+B',
      '*** Update File: m',
      '*** Move to: m2',
      '-x',
      '+y',
      '*** Delete File: d',
    ];
    const { plan, events, output } = await applyPatch(root, patchText(...lines));
    const changes = {
      [`${root}/n`]: { type: 'add', content: 'new\n' },
      [`${root}/u`]: { type: 'update', unified_diff: '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', move_path: null },
      [`${root}/m`]: { type: 'update', unified_diff: '@@ -1 +1 @@\n-x\n+y\n', move_path: `${root}/m2` },
      [`${root}/d`]: { type: 'delete', content: 'gone\n' },
    };
    const item = { type: 'file_change', id: 'call_1', changes, auto_approved: true };
    expect(plan).toEqual({
      type: 'act',
      action: { type: 'patch', changes, writes: ['n', 'u', 'm', 'm2', 'd'].map(name => `${root}/${name}`), cwd: root },
      item: { ...item, status: 'in_progress', stdout: '', stderr: '' },
    });
    const stdout = output.slice(output.indexOf('Success'));
    expect(events).toEqual([
      { type: 'item.completed', item: { ...item, status: 'completed', stdout, stderr: '' }, at_ms: expect.any(Number) },
    ]);
  });

  it('a plan writes nothing', async () => {
    const root = workspace({ f: 'a\n' });
    const parsed = applyPatchTool.parse(patchText('*** Add File: x/y', '+1', '*** Update File: f', '-a', '+b'));
    if (!parsed.ok) throw new Error(parsed.message);
    await applyPatchTool.plan(parsed.input, facts(root));
    expect(snapshot(root)).toEqual({ f: 'a\n' });
  });

  it('a binary file can be deleted; its bytes are not shown', async () => {
    const root = workspace({ 'x.bin': Buffer.from([1, 0, 2]) });
    const { plan } = await applyPatch(root, patchText('*** Delete File: x.bin'));
    expect(plan).toMatchObject({
      action: { changes: { [`${root}/x.bin`]: { content: '(3 bytes that are not shown)\n' } } },
    });
    expect(snapshot(root)).toEqual({});
  });

  it('a file of many equal lines is searched, and the failure explained, as fast as any other', async () => {
    const before = 'x\n'.repeat(200_000);
    const wanted = Array.from({ length: 3_000 }, () => ' x');
    const { file, output } = await edit(before, ['@@', ...wanted, '-y', '+z']);
    expect(file).toBe(before);
    expect(output).toContain(
      'The closest place starts at line 1; 3000 of 3001 lines are the same. First difference, line 3001:',
    );
    expect((await edit(`${before}y\n`, ['@@', ...wanted, '-y', '+z'])).file).toBe(`${before}z\n`);
  });

  it('a file too large to edit can still be deleted', async () => {
    const root = workspace();
    fs.closeSync(fs.openSync(path.join(root, 'big'), 'w'));
    fs.truncateSync(path.join(root, 'big'), 3 * 1024 ** 3);
    expect((await applyPatch(root, update('big', '-a', '+b'))).output).toMatch(
      /has 3221225472 bytes; a patch can edit/,
    );
    await applyPatch(root, patchText('*** Delete File: big'));
    expect(snapshot(root)).toEqual({});
  });
});
