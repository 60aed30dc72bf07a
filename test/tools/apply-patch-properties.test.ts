import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyPatch, patchText, snapshot, workspace } from './apply-patch-support.js';

type Line = { text: string; ending: '\n' | '\r\n' };
type Edit = { kind: 'keep' | 'remove' | 'insert'; text: string };
type Case = { lines: Line[]; edits: Edit[]; bom: boolean; finalNewline: boolean; crlfPatch: boolean };

const plainText = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\t', '-', '+', '@', '*', '“', '\u00a0', 'é', '文', '🎈'),
  maxLength: 6,
});
const line: fc.Arbitrary<Line> = fc.record({
  text: plainText,
  ending: fc.constantFrom('\n' as const, '\r\n' as const),
});
const aCase: fc.Arbitrary<Case> = fc
  .array(line, { minLength: 1, maxLength: 14 })
  .chain(lines =>
    fc.record({
      lines: fc.constant(lines),
      edits: fc.array(fc.record({ kind: fc.constantFrom('keep', 'keep', 'remove', 'insert'), text: plainText }), {
        minLength: lines.length,
        maxLength: lines.length,
      }),
      bom: fc.boolean(),
      finalNewline: fc.boolean(),
      crlfPatch: fc.boolean(),
    }),
  )
  // Numbered, so that every line has one place only; the last one is never empty.
  .map(one => ({ ...one, lines: one.lines.map((l, i) => ({ ...l, text: `${i}:${l.text}` })) }) as Case);

function bytesOf({ lines, bom, finalNewline }: Pick<Case, 'lines' | 'bom' | 'finalNewline'>): Buffer {
  const text = lines.map((l, i) => l.text + (i === lines.length - 1 && !finalNewline ? '' : l.ending)).join('');
  return Buffer.from((bom ? '\ufeff' : '') + text);
}

/** The lines after the edits: an insertion goes above its line and takes the ending of the line above it. */
function edited({ lines, edits, finalNewline }: Case): Line[] {
  const none: Line = { text: '', ending: '\n' };
  return lines.flatMap((l, i): Line[] => {
    const { kind, text } = edits[i]!;
    if (kind === 'remove') return [];
    // A single line without an ending has none to give.
    const above = lines[i - 1] ?? (lines.length === 1 && !finalNewline ? none : l);
    return kind === 'insert' ? [{ text, ending: above.ending }, l] : [l];
  });
}

/** The same as a patch, in chunks of a few lines. */
function asPatch({ lines, edits, crlfPatch }: Case): string {
  const body: string[] = [];
  lines.forEach((l, i) => {
    if (i % 4 === 0) body.push('@@');
    const { kind, text } = edits[i]!;
    if (kind === 'insert') body.push(`+${text}`);
    body.push(kind === 'remove' ? `-${l.text}` : ` ${l.text}`);
  });
  return patchText('*** Update File: f', ...body).replaceAll('\n', crlfPatch ? '\r\n' : '\n');
}

it('any edit of any text file gives exactly the edited file', async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async one => {
      const lines = edited(one);
      fc.pre(lines.length > 0);
      // Where an insertion touches a removed line it takes that line's place and ending; leave those to the examples.
      fc.pre(!one.edits.some((e, i) => e.kind === 'insert' && one.edits[i - 1]?.kind === 'remove'));
      const root = workspace({ f: bytesOf(one) });
      await applyPatch(root, asPatch(one));
      const expected = bytesOf({ ...one, lines });
      expect(snapshot(root)['f']).toBe(expected.toString('latin1'));
      fs.rmSync(root, { recursive: true });
    }),
    { numRuns: 120 },
  );
});

it('only the patched line of any bytes changes', async () => {
  const bytes = fc.uint8Array({ minLength: 0, maxLength: 60 }).map(array => Buffer.from(array.map(byte => byte || 1)));
  await fc.assert(
    fc.asyncProperty(bytes, bytes, async (before, after) => {
      const file = Buffer.concat([before, Buffer.from('\nthe one line\n'), after]);
      const root = workspace({ f: file });
      await applyPatch(root, patchText('*** Update File: f', '@@', '-the one line', '+changed'));
      const expected = Buffer.concat([before, Buffer.from('\nchanged\n'), after]);
      expect(snapshot(root)['f']).toBe(expected.toString('latin1'));
      fs.rmSync(root, { recursive: true });
    }),
    { numRuns: 100 },
  );
});

it('a patch with one part that does not fit changes nothing', async () => {
  const good = fc.constantFrom<string[][]>(
    ['*** Update File: a', '-a', '+A'],
    ['*** Update File: a', '*** Move to: deep/er/a2'],
    ['*** Delete File: d'],
    ['*** Add File: new/file', '+x'],
    ['*** Update File: link', '-b', '+B'],
  );
  const bad = fc.constantFrom<string[][]>(
    ['*** Update File: c', '-nope', '+x'],
    ['*** Delete File: ghost'],
    ['*** Add File: c', '+x'],
    ['*** Update File: c', '*** Move to: b'],
    ['*** Delete File: dir'],
    ['*** Update File: c', '@@ nowhere', '+x'],
    ['*** Rename File: c'],
    ['*** Update File: c', 'no prefix'],
  );
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(good, { maxLength: 5 }), bad, fc.nat(), async (parts, broken, where) => {
      const root = workspace({ a: 'a\n', b: 'b\n', c: 'c\r\n', d: 'd', 'dir/f': 'f\n' });
      fs.symlinkSync('b', path.join(root, 'link'));
      const before = snapshot(root);
      const all = [...parts];
      all.splice(where % (parts.length + 1), 0, broken);
      const { is_error } = await applyPatch(root, patchText(...all.flat()));
      expect({ is_error, files: snapshot(root) }).toEqual({ is_error: true, files: before });
      fs.rmSync(root, { recursive: true });
    }),
    { numRuns: 60 },
  );
});

it('any text is answered, never thrown at', async () => {
  const piece = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Update File: f',
    '*** Add File: g',
    '*** Delete File: f',
    '*** Move to: h',
    '@@',
    '@@ a',
    '@@ -1 +1 @@',
    ' a',
    '-a',
    '+b',
    '',
    'x',
    '*** End of File',
    '\t',
    '```',
    "<<'EOF'",
    'EOF',
    '{',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.boolean(), async (pieces, framed) => {
      const root = workspace({ f: 'a\n' });
      const text = framed ? patchText(...pieces) : pieces.join('\n');
      const { output, is_error } = await applyPatch(root, text);
      expect(output).toMatch(is_error ? /failed|rejected/ : /^Exit code: 0/);
      const unchanged = JSON.stringify(snapshot(root)) === JSON.stringify({ f: 'a\n' });
      expect(unchanged || !is_error).toBe(true);
      fs.rmSync(root, { recursive: true, force: true });
    }),
    { numRuns: 120 },
  );
});
