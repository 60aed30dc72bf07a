/** The hunks of a unified diff between two texts, as `git diff` writes them (without its guessed headings). Loads the `diff` package: import lazily. */
import { diffArrays } from 'diff';

const CONTEXT_LINES = 3;
/** Beyond this many changed lines the cheapest edit is not looked for: the differing middle is shown as replaced. */
const MAX_EDITS = 1000;

/**
 * Hunks only (`@@ -1,2 +1,2 @@` and their lines), "" when both are equal. Lines end in `\n`; a `\r` before it belongs to
 * the line. Buffers are compared byte by byte; bytes that are not UTF-8 show as U+FFFD.
 */
export function unifiedHunks(before: string | Buffer, after: string | Buffer): string {
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  const text = groupChanges(findChanges(oldLines, newLines), oldLines.length)
    .map(hunk => formatHunk(hunk, oldLines, newLines))
    .join('');
  return Buffer.from(text, 'latin1').toString('utf8');
}

/** Lines `[old, old + removed)` are replaced by `[new, new + added)`; indices from 0. */
type Change = { old: number; removed: number; new: number; added: number };

/** Latin-1 stands for the bytes one to one, so that comparing lines compares bytes. Each keeps its `\n`. */
function splitLines(text: string | Buffer): string[] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
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
  hunk: { changes: readonly Change[]; from: number; to: number },
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
  return `@@ -${formatRange(hunk.from, count)} +${formatRange(newFrom, count + grown)} @@\n${body.join('')}`;
}

function formatLine(sign: ' ' | '-' | '+', line = ''): string {
  return line.endsWith('\n') ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** An empty range names the line before it. */
function formatRange(from: number, count: number): string {
  if (count === 1) return String(from + 1);
  return `${count === 0 ? from : from + 1},${count}`;
}
