/** Replaces a text in the bytes of a file. Pure. */
import { isUtf8 } from 'node:buffer';
import { explainMissing } from './explain-missing.js';

export type Replacement = {
  /** Not empty. */
  readonly old: string;
  readonly new: string;
  /** False: `old` must occur exactly once. */
  readonly all: boolean;
};

/** `places`: the lines, from 1, where the replaced texts started. */
export type Replaced =
  | { readonly ok: true; readonly bytes: Buffer; readonly places: readonly number[] }
  | { readonly ok: false; readonly message: string };

const LF = 10;
const CR = 13;
const MOST_PLACES_TOLD = 8;

/**
 * All bytes but those of the replaced text stay. Models write `\n` for every line ending: in the search `\r\n` counts as
 * `\n`, and line feeds of `new` become the ending of the line they are put into, unless `new` has a `\r\n` itself.
 * `name` is for messages.
 */
export function replaceText(bytes: Buffer, wanted: Replacement, name: string): Replaced {
  if (!isUtf8(bytes) && /[^\u0000-\u007f]/.test(wanted.new)) {
    return refused(
      `${name} is not UTF-8, so the new text can't be written in its encoding. It must be ASCII; otherwise convert the file first, or edit it with a command that knows its encoding`,
    );
  }
  const ranges = findAll(bytes, wanted.old);
  if (ranges.length === 0) return refused(explainMissing(bytes, wanted.old, name));
  const places = lineNumbers(bytes, ranges);
  if (ranges.length > 1 && !wanted.all) {
    const told = places.slice(0, MOST_PLACES_TOLD).join(', ');
    return refused(
      `old_string occurs ${ranges.length} times in ${name} (line ${told}${places.length > MOST_PLACES_TOLD ? ', …' : ''}). Add lines around it until it fits one place only, or set replace_all`,
    );
  }
  return { ok: true, bytes: replaceRanges(bytes, ranges, wanted.new), places };
}

const refused = (message: string): Replaced => ({ ok: false, message });

/** `[start, end)` in bytes. */
type Range = { readonly start: number; readonly end: number };

function findAll(bytes: Buffer, text: string): Range[] {
  if (!text.includes('\n') || !(bytes.includes('\r\n') || text.includes('\r\n'))) {
    return occurrences(bytes, Buffer.from(text));
  }
  const { plain, removed } = withoutCarriageReturns(bytes);
  let count = 0;
  // Positions come in ascending order, so that one pass over the removed bytes is enough.
  const original = (position: number) => {
    while (count < removed.length && (removed[count] ?? 0) < position) count++;
    return position + count;
  };
  return occurrences(plain, Buffer.from(text.replaceAll('\r\n', '\n'))).map(({ start, end }) => ({
    start: original(start),
    end: original(end),
  }));
}

/** From left to right, not overlapping. */
function occurrences(bytes: Buffer, text: Buffer): Range[] {
  const found: Range[] = [];
  if (text.length === 0) return found;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) {
    found.push({ start: at, end: at + text.length });
  }
  return found;
}

/** `\r\n` as `\n`; `removed` holds, for each `\r` that is left out, the position of its `\n` in `plain`. */
function withoutCarriageReturns(bytes: Buffer): { plain: Buffer; removed: number[] } {
  const removed: number[] = [];
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf('\r\n'); at >= 0; at = bytes.indexOf('\r\n', at + 2)) {
    parts.push(bytes.subarray(from, at));
    removed.push(at - removed.length);
    from = at + 1;
  }
  parts.push(bytes.subarray(from));
  return { plain: Buffer.concat(parts), removed };
}

function lineNumbers(bytes: Buffer, ranges: readonly Range[]): number[] {
  let line = 1;
  let at = 0;
  return ranges.map(({ start }) => {
    for (let next = bytes.indexOf(LF, at); next >= 0 && next < start; next = bytes.indexOf(LF, next + 1)) {
      line++;
      at = next + 1;
    }
    return line;
  });
}

function replaceRanges(bytes: Buffer, ranges: readonly Range[], text: string): Buffer {
  const plain = Buffer.from(text);
  const withReturns =
    text.includes('\n') && !text.includes('\r\n') ? Buffer.from(text.replaceAll('\n', '\r\n')) : plain;
  const parts: Buffer[] = [];
  let kept = 0;
  for (const { start, end } of ranges) {
    parts.push(bytes.subarray(kept, start), endsWithReturn(bytes, start) ? withReturns : plain);
    kept = end;
  }
  parts.push(bytes.subarray(kept));
  return Buffer.concat(parts);
}

/** Whether the line at this position ends in `\r\n`; a last line without an ending follows the one above. */
function endsWithReturn(bytes: Buffer, position: number): boolean {
  const below = bytes.indexOf(LF, position);
  const ending = below >= 0 ? below : bytes.lastIndexOf(LF, position - 1);
  return ending > 0 && bytes[ending - 1] === CR;
}
