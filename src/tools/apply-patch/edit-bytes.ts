/** Applies the chunks of an update to the bytes of a file. Pure. */
import { type ChunkSearch, explainAnchor, explainLines, explainRange } from './explain.js';
import { FileLines } from './file-lines.js';
import { findLines } from './find-lines.js';
import type { Chunk, PatchLine } from './patch.js';

export type Edited = { ok: true; bytes: Buffer } | { ok: false; message: string };

/**
 * Bytes outside the removed lines stay: line endings, byte order mark, blanks, the spelling of context lines, a missing
 * final newline. New lines get the ending of the line they replace, else of the line above. `name` is for messages.
 */
export function editBytes(bytes: Buffer, chunks: readonly Chunk[], name: string): Edited {
  const lines = new FileLines(bytes);
  const edits: Edit[] = [];
  const atEnd: Edit[] = [];
  let from = 0;
  for (const [index, chunk] of chunks.entries()) {
    const where = { name, chunk, index, chunks: chunks.length, lines, from };
    const place = findChunk(where);
    if (typeof place === 'string') return { ok: false, message: place };
    if (place.at === 'end') {
      atEnd.push({ at: lines.count, removed: 0, added: place.lines.map(line => line.text) });
    } else {
      from = collectEdits(place.at, place.lines, edits);
    }
  }
  edits.push(...atEnd);
  const foreign = lines.utf8
    ? undefined
    : edits.flatMap(edit => edit.added).find(line => /[^\u0000-\u007f]/.test(line));
  if (foreign !== undefined) {
    return {
      ok: false,
      message: `${name} is not UTF-8, so the new line ${JSON.stringify(foreign)} can't be written in its encoding. New lines for this file must be ASCII; otherwise convert the file first, or edit it with a command that knows its encoding`,
    };
  }
  return { ok: true, bytes: rebuild(lines, edits) };
}

/** Lines `[at, at + removed)` are replaced by `added`. In the order of the file, never overlapping. */
type Edit = { at: number; removed: number; added: string[] };

/** `lines` are those of the chunk that are applied at line `at`; `end`: added below everything, whatever comes later. */
type Place = { at: number | 'end'; lines: readonly PatchLine[] };

/** A text is why there is none. */
function findChunk(search: ChunkSearch): Place | string {
  const { chunk, lines } = search;
  let from = search.from;
  for (const anchor of chunk.anchors) {
    const at = findAnchor(lines, anchor, from);
    if (at === undefined) return explainAnchor({ ...search, from }, anchor);
    from = at + 1;
  }
  let applied: readonly PatchLine[] = chunk.lines;
  for (;;) {
    const wanted = applied.filter(line => line.kind !== 'add').map(line => line.text);
    if (wanted.length === 0) return placeAddition({ ...search, from }, applied);
    const place = choosePlace({ ...search, from }, wanted);
    if (typeof place === 'string') return place;
    if (place !== null) return { at: place, lines: applied };
    // Models take the end of the last line for one more, empty line.
    const shorter = withoutLastBlank(applied);
    if (shorter) {
      applied = shorter;
      continue;
    }
    if (chunk.anchors.length > 0 && startsAt(search, from - 1)) return { at: from - 1, lines: chunk.lines };
    return explainLines({ ...search, from }, chunk.lines);
  }
}

/** True when the chunk repeats its anchor as the first line of context. */
function startsAt({ chunk, lines }: ChunkSearch, at: number): boolean {
  const wanted = chunk.lines.filter(line => line.kind !== 'add').map(line => line.text);
  return findLines({ lines, wanted, from: at })[0] === at;
}

function findAnchor(lines: FileLines, anchor: string, from: number): number | undefined {
  const [at] = findLines({ lines, wanted: [anchor], from });
  if (at !== undefined || !anchor.trimEnd().endsWith('@@')) return at;
  // Some models close an anchor as they would in a unified diff.
  return findLines({ lines, wanted: [anchor.trimEnd().slice(0, -2)], from })[0];
}

/**
 * The line number of a header like `@@ -12,3 +12,4 @@` decides between equal places; models count badly, so that it is
 * never more than that: when it names none of several places, nothing is guessed.
 */
function choosePlace(search: ChunkSearch, wanted: readonly string[]): number | string | null {
  const { lines, from, chunk } = search;
  const { fileLine, atEnd } = chunk;
  if (fileLine === null) return findLines({ lines, wanted, from, atEnd })[0] ?? null;
  const places = findLines({ lines, wanted, from, atEnd }, Number.POSITIVE_INFINITY);
  if (places.length < 2) return places[0] ?? null;
  return places.includes(fileLine - 1) ? fileLine - 1 : explainRange(search, places);
}

/** Lines without a place of their own go below their anchor, else to the end of the file. */
function placeAddition(search: ChunkSearch, applied: readonly PatchLine[]): Place | string {
  const { chunk, lines, from } = search;
  if (chunk.fileLine !== null && chunk.anchors.length === 0 && lines.count > 0) return explainRange(search, []);
  return { at: chunk.anchors.length > 0 && !chunk.atEnd ? from : 'end', lines: applied };
}

function withoutLastBlank(applied: readonly PatchLine[]): PatchLine[] | null {
  const at = applied.findLastIndex(line => line.kind !== 'add');
  const last = applied[at];
  if (!last || last.text.trim() !== '') return null;
  const rest = applied.filter((_, i) => i !== at);
  if (last.kind === 'context') return rest;
  // A removal is only forgiven where other lines say what is meant.
  if (rest.every(line => line.kind === 'add')) return null;
  // An empty line replaced by an empty line: neither exists.
  if (rest.at(-1)?.kind === 'add' && rest.at(-1)?.text === '') rest.pop();
  return rest;
}

/** Returns the line after the last one that the chunk covers. */
function collectEdits(start: number, applied: readonly PatchLine[], edits: Edit[]): number {
  let at = start;
  let open: Edit | null = null;
  for (const line of applied) {
    if (line.kind === 'context') {
      open = null;
      at++;
      continue;
    }
    if (!open) {
      open = { at, removed: 0, added: [] };
      edits.push(open);
    }
    if (line.kind === 'add') {
      open.added.push(line.text);
    } else {
      open.removed++;
      at++;
    }
  }
  return at;
}

function rebuild(lines: FileLines, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [lines.bytes.subarray(0, lines.start(0))];
  let kept = 0;
  for (const edit of edits) {
    parts.push(lines.bytes.subarray(lines.start(kept), lines.start(edit.at)));
    const belowOpenLine = edit.at === lines.count && kept < lines.count && !lines.hasFinalNewline;
    kept = edit.at + edit.removed;
    if (edit.added.length === 0) continue;
    if (belowOpenLine) parts.push(Buffer.from(endingFor(lines, edit.at - 1)));
    parts.push(Buffer.from(addedText(lines, edit)));
  }
  parts.push(lines.bytes.subarray(lines.start(kept)));
  const whole = Buffer.concat(parts);
  const changedEnd = edits.some(edit => edit.at + edit.removed === lines.count);
  return changedEnd && !lines.hasFinalNewline ? withoutFinalNewline(whole, lines.start(0)) : whole;
}

function addedText(lines: FileLines, edit: Edit): string {
  const text = edit.added
    .map((line, i) => line + endingFor(lines, edit.removed > 0 ? edit.at + Math.min(i, edit.removed - 1) : edit.at - 1))
    .join('');
  return edit.at === 0 && lines.hasBom ? text.replace(/^\uFEFF/, '') : text;
}

/** The ending of line `i`; where that line has none or does not exist, of its nearest neighbour, above first. */
function endingFor(lines: FileLines, i: number): string {
  return lines.ending(i) || lines.ending(i - 1) || lines.ending(i + 1) || '\n';
}

function withoutFinalNewline(bytes: Buffer, start: number): Buffer {
  if (bytes.length <= start || bytes[bytes.length - 1] !== 10) return bytes;
  const crlf = bytes.length - 2 >= start && bytes[bytes.length - 2] === 13;
  return bytes.subarray(0, bytes.length - (crlf ? 2 : 1));
}
