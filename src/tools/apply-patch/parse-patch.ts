/** The grammar of a patch, with the leniency that models need. What is accepted beyond it never has a second reading. */
import { type Chunk, type Hunk, type PatchLine, PatchSyntaxError } from './patch.js';
import { unwrapPatch } from './unwrap.js';

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const MOVE = '*** Move to:';
const END_OF_FILE = '*** End of File';
const FILE_HEADER = /^\s*\*\*\* (Add|Update|Delete) File:(.*)$/;
const RANGE_HEADER = /^-(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/;

/** The hunks of a patch in their order; none for an empty patch. Throws PatchSyntaxError. */
export function parsePatch(text: string): Hunk[] {
  const lines = unwrapPatch(text);
  const first = lines[0] ?? '';
  const begins = first.trim() === BEGIN;
  if (!begins && !FILE_HEADER.test(first)) {
    throw new PatchSyntaxError(`a patch starts with the line '${BEGIN}', not with ${quote(first)}`);
  }
  checkEnd(lines);
  const reader = new Reader(lines, begins ? 1 : 0, lines.length - 1);
  const hunks: Hunk[] = [];
  if (/^\s*\*\*\* Environment ID:/.test(reader.peek() ?? '')) reader.next();
  for (;;) {
    skipBetweenHunks(reader);
    if (reader.peek() === undefined) return hunks;
    hunks.push(parseHunk(reader));
  }
}

function checkEnd(lines: readonly string[]): void {
  const last = lines.at(-1) ?? '';
  if (last.trim() === END && lines.length > 1) return;
  const end = lines.findLastIndex(line => line.trim() === END);
  if (end >= 0)
    throw new PatchSyntaxError(`line ${end + 2}: nothing may follow '${END}', found ${quote(lines[end + 1] ?? '')}`);
  throw new PatchSyntaxError(
    `a patch ends with the line '${END}', not with ${quote(last)} (line ${lines.length}); perhaps it was cut off`,
  );
}

/** The lines between Begin and End, one after the other. */
class Reader {
  readonly #lines: readonly string[];
  readonly #end: number;
  #at: number;
  /** Indentation of the first file header: a line in a chunk with the same indentation may be a header too. */
  headerIndent: string | null = null;

  constructor(lines: readonly string[], from: number, end: number) {
    this.#lines = lines;
    this.#at = from;
    this.#end = end;
  }

  /** Number of the line that `next` returns. */
  get line(): number {
    return this.#at + 1;
  }

  peek(ahead = 0): string | undefined {
    const at = this.#at + ahead;
    return at < this.#end ? this.#lines[at] : undefined;
  }

  next(): string {
    return this.#lines[this.#at++] ?? '';
  }

  skipBlank(): void {
    while (this.peek()?.trim() === '') this.#at++;
  }
}

/** Blank lines, and the seam between two patches that were sent as one. */
function skipBetweenHunks(reader: Reader): void {
  reader.skipBlank();
  while (reader.peek()?.trim() === END) {
    reader.next();
    reader.skipBlank();
    if (reader.peek()?.trim() !== BEGIN) {
      throw new PatchSyntaxError(
        `line ${reader.line}: nothing may follow '${END}', found ${quote(reader.peek() ?? END)}`,
      );
    }
    reader.next();
    reader.skipBlank();
  }
}

function parseHunk(reader: Reader): Hunk {
  const { line } = reader;
  const text = reader.next();
  const header = FILE_HEADER.exec(text);
  if (!header) {
    throw new PatchSyntaxError(
      `line ${line}: ${quote(text)} belongs to no file. Expected '*** Add File: PATH', '*** Update File: PATH' or '*** Delete File: PATH'`,
    );
  }
  reader.headerIndent ??= /^\s*/.exec(text)?.[0] ?? '';
  const path = parsePath(header[2] ?? '', line);
  if (header[1] === 'Add') return { type: 'add', path, line, content: parseContent(reader) };
  return header[1] === 'Delete' ? { type: 'delete', path, line } : parseUpdate(reader, path, line);
}

function parsePath(text: string, line: number): string {
  const path = text.trim();
  if (path === '') throw new PatchSyntaxError(`line ${line}: the path of the file is missing`);
  if (path.includes('\0')) throw new PatchSyntaxError(`line ${line}: the path ${quote(path)} has a NUL character`);
  return path;
}

/** Lines with `+`. An empty line is one of them when another `+` line follows: its `+` was forgotten. */
function parseContent(reader: Reader): string {
  let content = '';
  for (;;) {
    let blank = 0;
    while (reader.peek(blank)?.trim() === '') blank++;
    if (!reader.peek(blank)?.startsWith('+')) break;
    for (; blank > 0; blank--) content += `${reader.next()}\n`;
    content += `${reader.next().slice(1)}\n`;
  }
  if (reader.peek()?.trim() === END_OF_FILE) reader.next();
  return content;
}

function parseUpdate(reader: Reader, path: string, line: number): Hunk {
  reader.skipBlank();
  let moveTo: string | null = null;
  if (reader.peek()?.trimStart().startsWith(MOVE)) {
    const moveLine = reader.line;
    moveTo = parsePath(reader.next().trimStart().slice(MOVE.length), moveLine);
    reader.skipBlank();
  }
  skipUnifiedFileLines(reader);
  const chunks: Chunk[] = [];
  while (!endsChunk(reader)) {
    if (chunks.length > 0 && !reader.peek()?.startsWith('@@')) {
      throw new PatchSyntaxError(
        `line ${reader.line}: ${quote(reader.next())} follows '${END_OF_FILE}'. Start the next chunk with '@@'`,
      );
    }
    chunks.push(parseChunk(reader));
    if (reader.peek()?.trim() === '') reader.skipBlank();
  }
  if (chunks.length === 0 && moveTo === null) {
    throw new PatchSyntaxError(`line ${line}: the update of ${quote(path)} has no lines to change`);
  }
  return { type: 'update', path, line, moveTo, chunks };
}

/** `--- a/x` and `+++ b/x` of a unified diff, put below our own header. */
function skipUnifiedFileLines(reader: Reader): void {
  const [first, second, third] = [reader.peek(), reader.peek(1), reader.peek(2)];
  if (!first?.startsWith('--- ') || !second?.startsWith('+++ ') || !/^@@ -\d/.test(third ?? '')) return;
  reader.next();
  reader.next();
}

/** True at the end of the patch and at a line that can't be part of a chunk. */
function endsChunk(reader: Reader): boolean {
  const text = reader.peek();
  if (text === undefined || text.startsWith('***')) return true;
  return Boolean(
    reader.headerIndent &&
      text.startsWith(`${reader.headerIndent}***`) &&
      (FILE_HEADER.test(text) || text.trim() === END),
  );
}

function parseChunk(reader: Reader): Chunk {
  const { line } = reader;
  const anchors: string[] = [];
  let fileLine: number | null = null;
  while (reader.peek()?.startsWith('@@')) {
    const header = reader.next().slice(2).replace(/^ /, '');
    const range = RANGE_HEADER.exec(header);
    if (range) fileLine = Number(range[1]);
    else if (header.trim() !== '') anchors.push(header);
  }
  const lines: PatchLine[] = [];
  while (!endsChunk(reader) && !reader.peek()?.startsWith('@@')) lines.push(parseLine(reader));
  const atEnd = reader.peek()?.trim() === END_OF_FILE;
  if (atEnd) reader.next();
  const kept = withoutPadding(lines);
  if (kept.length === 0) {
    throw new PatchSyntaxError(
      `line ${line}: no lines follow ${anchors.length > 0 ? quote(`@@ ${anchors.at(-1)}`) : "'@@'"}`,
    );
  }
  return { line, anchors, fileLine, lines: kept, atEnd };
}

function parseLine(reader: Reader): PatchLine {
  const { line } = reader;
  const text = reader.next();
  switch (text[0]) {
    case '+':
      return { kind: 'add', text: text.slice(1) };
    case '-':
      return { kind: 'remove', text: text.slice(1) };
    case ' ':
      return { kind: 'context', text: text.slice(1) };
    case undefined:
      return { kind: 'context', text: '' };
    case '\t':
      // An indented context line whose blank was forgotten; context is only looked for, never written.
      return { kind: 'context', text };
  }
  throw new PatchSyntaxError(
    `line ${line}: ${quote(text)} is no line of a chunk. Each starts with ' ' (context), '-' (remove) or '+' (add)`,
  );
}

/** Empty lines behind a chunk that only adds are layout of the patch, not context to look for. */
function withoutPadding(lines: PatchLine[]): PatchLine[] {
  const end = lines.findLastIndex(line => line.kind !== 'context' || line.text.trim() !== '') + 1;
  return lines.slice(0, end).every(line => line.kind === 'add') ? lines.slice(0, end) : lines;
}

function quote(text: string): string {
  const limit = 200;
  return JSON.stringify(text.length > limit ? `${text.slice(0, limit)}…` : text);
}
