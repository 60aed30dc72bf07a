/** The hunks of a unified diff between two texts, as `git diff` writes them (without its guessed headings). Loaded by `loadDiffs`. */
import { diffArrays } from 'diff';

const CONTEXT_LINES = 3;
/** Beyond this many changed lines the cheapest edit is not looked for: the differing middle is shown as replaced. */
const MAX_EDITS = 1000;

/**
 * Hunks only (`@@ -1,2 +1,2 @@` and their lines), "" when both are equal. Lines end in `\n`; a `\r` before it belongs to
 * the line. Buffers are compared byte by byte; bytes that are not UTF-8 show as U+FFFD.
 */
export function unifiedHunks(before: string | Buffer, after: string | Buffer): string {
  const a = typeof before === 'string' ? Buffer.from(before) : before;
  const b = typeof after === 'string' ? Buffer.from(after) : after;
  if (a.equals(b)) return '';
  const { head, tail } = equalEnds(a, b);
  const oldLines = splitLines(a.subarray(head, a.length - tail));
  const newLines = splitLines(b.subarray(head, b.length - tail));
  const skipped = countLines(a, head);
  const text = groupChanges(findChanges(oldLines, newLines), oldLines.length)
    .map(hunk => formatHunk({ ...hunk, skipped }, oldLines, newLines))
    .join('');
  return Buffer.from(text, 'latin1').toString('utf8');
}

const LF = 10;

/** Lengths of what both have in common at their ends, in whole lines, less the lines of context: large files stay bytes. */
function equalEnds(a: Buffer, b: Buffer): { head: number; tail: number } {
  const shorter = Math.min(a.length, b.length);
  let head = equalLength(shorter, (from, to) => a.subarray(from, to).equals(b.subarray(from, to)));
  for (let lines = 0; lines <= CONTEXT_LINES && head > 0; lines++) head = lineStart(a, head);
  const limit = shorter - head;
  const common = equalLength(limit, (from, to) =>
    a.subarray(a.length - to, a.length - from).equals(b.subarray(b.length - to, b.length - from)),
  );
  let from = a.length - common;
  for (let lines = 0; lines <= CONTEXT_LINES && from < a.length; lines++) {
    const end = a.indexOf(LF, from);
    from = end < 0 ? a.length : end + 1;
  }
  return { head, tail: a.length - from };
}

/** The largest length up to `limit` for which everything is the same, in blocks and then halves of the last one. */
function equalLength(limit: number, same: (from: number, to: number) => boolean): number {
  let at = 0;
  for (let block = 1 << 16; block >= 1; block >>= 1) {
    while (at + block <= limit && same(at, at + block)) at += block;
  }
  return at;
}

/** The start of the line before the one that starts at or holds `at`. */
function lineStart(bytes: Buffer, at: number): number {
  return at < 2 ? 0 : bytes.lastIndexOf(LF, at - 2) + 1;
}

function countLines(bytes: Buffer, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}

/** Lines `[old, old + removed)` are replaced by `[new, new + added)`; indices from 0. */
type Change = { old: number; removed: number; new: number; added: number };

/** Latin-1 stands for the bytes one to one, so that comparing lines compares bytes. Each keeps its `\n`. */
function splitLines(bytes: Buffer): string[] {
  const lines = bytes.toString('latin1').split('\n');
  const last = lines.pop();
  const whole = lines.map(line => `${line}\n`);
  if (last) whole.push(last);
  return whole;
}

function findChanges(a: readonly string[], b: readonly string[]): Change[] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const removed = a.length - head - tail;
  const added = b.length - head - tail;
  if (removed === 0 && added === 0) return [];
  const whole = [{ old: head, removed, new: head, added }];
  if (removed === 0 || added === 0) return whole;
  const parts = diffArrays(a.slice(head, head + removed), b.slice(head, head + added), { maxEditLength: MAX_EDITS });
  return parts ? changesOf(parts, head) : whole;
}

function changesOf(parts: ReturnType<typeof diffArrays>, start: number): Change[] {
  const changes: Change[] = [];
  let open: Change | null = null;
  let oldAt = start;
  let newAt = start;
  for (const part of parts) {
    const { length } = part.value;
    if (!part.added && !part.removed) {
      open = null;
      oldAt += length;
      newAt += length;
      continue;
    }
    if (!open) {
      open = { old: oldAt, removed: 0, new: newAt, added: 0 };
      changes.push(open);
    }
    if (part.removed) {
      open.removed += length;
      oldAt += length;
    } else {
      open.added += length;
      newAt += length;
    }
  }
  return changes;
}

/** Changes whose context lines meet share a hunk. */
function groupChanges(
  changes: readonly Change[],
  oldLength: number,
): { changes: Change[]; from: number; to: number }[] {
  const hunks: { changes: Change[]; from: number; to: number }[] = [];
  for (const change of changes) {
    const from = Math.max(0, change.old - CONTEXT_LINES);
    const to = Math.min(oldLength, change.old + change.removed + CONTEXT_LINES);
    const last = hunks.at(-1);
    if (last && from <= last.to) {
      last.changes.push(change);
      last.to = to;
    } else {
      hunks.push({ changes: [change], from, to });
    }
  }
  return hunks;
}

function formatHunk(
  hunk: { changes: readonly Change[]; from: number; to: number; skipped: number },
  oldLines: readonly string[],
  newLines: readonly string[],
): string {
  const body: string[] = [];
  let at = hunk.from;
  let grown = 0;
  for (const change of hunk.changes) {
    for (; at < change.old; at++) body.push(formatLine(' ', oldLines[at]));
    for (let i = 0; i < change.removed; i++) body.push(formatLine('-', oldLines[change.old + i]));
    for (let i = 0; i < change.added; i++) body.push(formatLine('+', newLines[change.new + i]));
    at = change.old + change.removed;
    grown += change.added - change.removed;
  }
  for (; at < hunk.to; at++) body.push(formatLine(' ', oldLines[at]));
  const first = hunk.changes[0];
  const newFrom = first ? first.new - (first.old - hunk.from) : hunk.from;
  const count = hunk.to - hunk.from;
  return `@@ -${formatRange(hunk.skipped + hunk.from, count)} +${formatRange(hunk.skipped + newFrom, count + grown)} @@\n${body.join('')}`;
}

function formatLine(sign: ' ' | '-' | '+', line = ''): string {
  return line.endsWith('\n') ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** An empty range names the line before it. */
function formatRange(from: number, count: number): string {
  if (count === 1) return String(from + 1);
  return `${count === 0 ? from : from + 1},${count}`;
}
