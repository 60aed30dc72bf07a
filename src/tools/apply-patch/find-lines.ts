/** Where a run of lines stands in a file: exactly, or else as nearly as a reader would still call the same. */
import type { FileLines } from './file-lines.js';

type Normal = (line: string) => string;

/** From strict to lenient. A later one counts only where no earlier one finds anything in the whole range. */
const LENIENT: readonly Normal[] = [line => line.trimEnd(), line => line.trim(), line => plainPunctuation(line).trim()];

/** What two lines must have in common to count as the same at all. */
export const mostLenient: Normal = line => plainPunctuation(line).trim();

export type LineSearch = {
  readonly lines: FileLines;
  readonly wanted: readonly string[];
  /** First line where a match may start. */
  readonly from: number;
  /** Only the last lines of the file count. */
  readonly atEnd?: boolean;
};

/** The first places where the wanted lines stand, at most `limit`, all of the strictest kind that has any. */
export function findLines(search: LineSearch, limit = 1): number[] {
  const { lines, wanted, from, atEnd } = search;
  const last = lines.count - wanted.length;
  const first = atEnd ? Math.max(from, last) : from;
  const exact = wanted.map(line => Buffer.from(line));
  const found = scan(first, last, limit, wanted.length, (at, i) => lines.equals(at, exact[i] ?? Buffer.alloc(0)));
  if (found.length > 0) return found;
  for (const normal of LENIENT) {
    const normalWanted = wanted.map(normal);
    const places = scan(first, last, limit, wanted.length, (at, i) => normal(lines.text(at)) === normalWanted[i]);
    if (places.length > 0) return places;
  }
  return [];
}

function scan(
  first: number,
  last: number,
  limit: number,
  length: number,
  same: (at: number, i: number) => boolean,
): number[] {
  const places: number[] = [];
  for (let at = first; at <= last && places.length < limit; at++) {
    let i = 0;
    while (i < length && same(at + i, i)) i++;
    if (i === length) places.push(at);
  }
  return places;
}

function plainPunctuation(line: string): string {
  // Most lines are ASCII; the test is much cheaper than four replacements.
  if (!/[^\u0000-\u007f]/.test(line)) return line;
  return line
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}
