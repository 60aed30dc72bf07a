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
  if (first > last) return [];
  for (const name of [exactNames, ...LENIENT.map(lenientNames)]) {
    const { ofWanted, ofLine } = name(lines, wanted);
    const text = Int32Array.from({ length: last + wanted.length - first }, (_, i) => ofLine(first + i));
    const places = findRuns(text, ofWanted, limit);
    if (places.length > 0) return places.map(place => first + place);
  }
  return [];
}

/** Lines as numbers: two are the same when their numbers are. A line of the file that nobody wants is -1. */
type Names = { readonly ofWanted: readonly number[]; readonly ofLine: (at: number) => number };

function exactNames(lines: FileLines, wanted: readonly string[]): Names {
  const names = new Map<string, number>();
  // Bytes as characters: what is not UTF-8 would otherwise all read the same.
  const ofWanted = wanted.map(line => nameOf(names, Buffer.from(line).toString('latin1')));
  const lengths = new Set([...names.keys()].map(key => key.length));
  const ofLine = (at: number) => (lengths.has(lines.length(at)) ? (names.get(lines.latin1(at)) ?? -1) : -1);
  return { ofWanted, ofLine };
}

function lenientNames(normal: Normal): (lines: FileLines, wanted: readonly string[]) => Names {
  return (lines, wanted) => {
    const names = new Map<string, number>();
    const ofWanted = wanted.map(line => nameOf(names, normal(line)));
    return { ofWanted, ofLine: at => names.get(normal(lines.text(at))) ?? -1 };
  };
}

function nameOf(names: Map<string, number>, key: string): number {
  const known = names.get(key) ?? names.size;
  names.set(key, known);
  return known;
}

/** Knuth, Morris and Pratt: many equal lines must not cost their number times the length of the run. */
function findRuns(text: Int32Array, run: readonly number[], limit: number): number[] {
  if (run.length === 0) return Array.from({ length: Math.min(limit, text.length + 1) }, (_, i) => i);
  const fallback = fallbacks(run);
  const places: number[] = [];
  let matched = 0;
  for (let at = 0; at < text.length && places.length < limit; at++) {
    while (matched > 0 && text[at] !== run[matched]) matched = fallback[matched - 1] ?? 0;
    if (text[at] === run[matched]) matched++;
    if (matched < run.length) continue;
    places.push(at + 1 - run.length);
    matched = fallback[matched - 1] ?? 0;
  }
  return places;
}

/** For each length of a matched beginning: how long a beginning of the run is also its end. */
function fallbacks(run: readonly number[]): Int32Array {
  const lengths = new Int32Array(run.length);
  let length = 0;
  for (let at = 1; at < run.length; at++) {
    while (length > 0 && run[at] !== run[length]) length = lengths[length - 1] ?? 0;
    if (run[at] === run[length]) length++;
    lengths[at] = length;
  }
  return lengths;
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
