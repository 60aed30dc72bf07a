/** Why a chunk does not apply, in words that let the model send a better one. */
import type { FileLines } from './file-lines.js';
import { findLines, mostLenient } from './find-lines.js';
import type { Chunk, PatchLine } from './patch.js';

/** A chunk that is looked for. */
export type ChunkSearch = {
  /** The file, for messages. */
  readonly name: string;
  readonly chunk: Chunk;
  /** Position among the `chunks` of the update. */
  readonly index: number;
  readonly chunks: number;
  readonly lines: FileLines;
  /** First line of the file that may match. */
  readonly from: number;
};

/** Beyond it no further look is taken at what would only make the message better. */
const MAX_COMPARED_LINES = 20_000;
const MAX_QUOTED = 300;
/** Of one line that is in the patch and in the file, each at some places. */
const MAX_VOTES = 100_000;

export function explainAnchor(search: ChunkSearch, anchor: string): string {
  const { lines, from } = search;
  const before = from > 0 ? findLines({ lines, wanted: [anchor], from: 0 })[0] : undefined;
  if (before !== undefined) {
    return `${subject(search)}: the line after '@@' is in the file at line ${before + 1}, but the search starts at line ${from + 1}, below what came before it. Put the chunks in the order of the file.\n  anchor: ${quoteLine(anchor)}`;
  }
  const near = mostSimilarLine(lines, anchor, from);
  const found = near === null ? 'No line of the file is similar.' : `Line ${near + 1} is the most similar one.`;
  const quoted = near === null ? [] : [`  found:    ${quoteLine(lines.text(near))}`];
  return [
    `${subject(search)}: the line after '@@' is not in the file. ${found}`,
    `  expected: ${quoteLine(anchor)}`,
    ...quoted,
  ].join('\n');
}

export function explainLines(search: ChunkSearch, chunkLines: readonly PatchLine[]): string {
  const { lines, from, chunk } = search;
  const wanted = chunkLines.filter(line => line.kind !== 'add').map(line => line.text);
  const elsewhere = from > 0 || chunk.atEnd ? findLines({ lines, wanted, from: 0 })[0] : undefined;
  if (elsewhere !== undefined) return explainPlace(search, elsewhere);
  const place = closestPlace(lines, wanted, from);
  const different = place === null ? 0 : firstDifference(lines, wanted, place);
  const report = [`${subject(search)}: its lines are not in the file. ${closestText(search, wanted, place)}`];
  report.push(`  expected: ${quoteLine(wanted[different] ?? '')}`);
  if (place !== null) report.push(`  found:    ${foundText(lines, place + different)}`);
  const hint = hintFor(search, chunkLines, wanted[different] ?? '');
  if (hint) report.push(hint);
  if (chunk.atEnd) report.push("The chunk ends with '*** End of File', so that only the last lines of the file count.");
  return report.join('\n');
}

/** A header with line numbers leaves open which place is meant. */
export function explainRange(search: ChunkSearch, places: readonly number[]): string {
  const why =
    places.length === 0
      ? 'it only adds lines'
      : `its lines stand at ${places.length > 5 ? `${places.length} places, the first ` : ''}line ${places
          .slice(0, 5)
          .map(place => place + 1)
          .join(', ')}`;
  return `${subject(search)}: line numbers in '@@' do not say where it goes, and ${why}. Give lines of context, or '@@' with a line of the file above the change.`;
}

function subject({ name, chunk, index, chunks }: ChunkSearch): string {
  return `${name}: chunk ${index + 1} of ${chunks} (line ${chunk.line} of the patch) does not apply`;
}

/** The lines are in the file, but not where they may be. */
function explainPlace(search: ChunkSearch, place: number): string {
  const { from, lines } = search;
  if (place < from) {
    return `${subject(search)}: its lines are in the file at line ${place + 1}, but the search starts at line ${from + 1}, below what came before it. Put the chunks in the order of the file.`;
  }
  return `${subject(search)}: it ends with '*** End of File', but its lines stand at line ${place + 1} of ${lines.count}. Without that marker they would match.`;
}

function closestText(search: ChunkSearch, wanted: readonly string[], place: number | null): string {
  if (search.lines.count === 0) return 'The file is empty.';
  if (place === null) return 'Nothing in the file is similar.';
  const equal = wanted.filter((line, i) => sameLine(search.lines, place + i, line)).length;
  const start = `The closest place starts at line ${Math.max(place, 0) + 1}`;
  if (equal === 0) return `${start}:`;
  return `${start}; ${equal} of ${wanted.length} lines are the same. First difference, line ${place + firstDifference(search.lines, wanted, place) + 1}:`;
}

function foundText(lines: FileLines, at: number): string {
  if (at < 0) return '(nothing: above the first line of the file)';
  return at < lines.count ? quoteLine(lines.text(at)) : `(nothing: the file has ${lines.count} lines)`;
}

function hintFor(search: ChunkSearch, chunkLines: readonly PatchLine[], different: string): string | null {
  if (/^\s*\*\*\* (Add|Update|Delete) File:|^\s*\*\*\* End Patch/.test(different)) {
    return 'A line that starts with a blank is context. Markers such as *** Update File start in the first column.';
  }
  const result = chunkLines.filter(line => line.kind !== 'remove').map(line => line.text);
  if (search.lines.count > MAX_COMPARED_LINES || !chunkLines.some(line => line.kind === 'add')) return null;
  if (result.every(line => line.trim() === '')) return null;
  const done = findLines({ lines: search.lines, wanted: result, from: 0 })[0];
  if (done === undefined) return null;
  return `The lines it should result in are in the file already, at line ${done + 1}: perhaps the change was made before.`;
}

const sameLine = (lines: FileLines, at: number, wanted: string) =>
  at >= 0 && at < lines.count && mostLenient(lines.text(at)) === mostLenient(wanted);

function firstDifference(lines: FileLines, wanted: readonly string[], place: number): number {
  const at = wanted.findIndex((line, i) => !sameLine(lines, place + i, line));
  return Math.max(at, 0);
}

/** Where most of the wanted lines stand in the right distance to each other; below `from` first. May be negative. */
export function closestPlace(lines: FileLines, wanted: readonly string[], from: number): number | null {
  const votes = new Map<number, number>();
  for (const { inPatch, inFile } of commonLines(lines, wanted)) {
    // What stands all over the file and the chunk says little about the place.
    const isCommon = inPatch.length * inFile.length > MAX_VOTES;
    const places = isCommon ? inFile.filter(at => at >= from).slice(0, 1) : inFile;
    for (const at of places) for (const i of isCommon ? inPatch.slice(0, 1) : inPatch) addVote(votes, at - i);
  }
  let best: { place: number; votes: number } | null = null;
  for (const [place, count] of votes) {
    const better = !best || count > best.votes || (count === best.votes && best.place < from && place >= from);
    if (better) best = { place, votes: count };
  }
  if (best) return best.place;
  const first = wanted.findIndex(line => line.trim() !== '');
  const near = mostSimilarLine(lines, wanted[first] ?? '', from);
  return near === null ? null : near - first;
}

function addVote(votes: Map<number, number>, place: number): void {
  votes.set(place, (votes.get(place) ?? 0) + 1);
}

/** Where each wanted line stands in the patch and in the file; blank ones are left out. */
function commonLines(lines: FileLines, wanted: readonly string[]): Iterable<{ inPatch: number[]; inFile: number[] }> {
  const common = new Map<string, { inPatch: number[]; inFile: number[] }>();
  for (const [i, line] of wanted.entries()) {
    const key = mostLenient(line);
    const places = common.get(key) ?? { inPatch: [], inFile: [] };
    places.inPatch.push(i);
    if (key !== '') common.set(key, places);
  }
  for (let at = 0; at < lines.count; at++) common.get(mostLenient(lines.text(at)))?.inFile.push(at);
  return common.values();
}

/** The line that shares most pairs of characters with `wanted`; null when none shares half of them. */
function mostSimilarLine(lines: FileLines, wanted: string, from: number): number | null {
  const pairs = pairsOf(wanted);
  if (pairs.size === 0) return null;
  let best: number | null = null;
  let bestScore = 0.5;
  const start = lines.count > MAX_COMPARED_LINES ? from : 0;
  const end = Math.min(lines.count, start + MAX_COMPARED_LINES);
  for (let at = start; at < end; at++) {
    const other = pairsOf(lines.text(at));
    let shared = 0;
    for (const pair of other) if (pairs.has(pair)) shared++;
    const score = (2 * shared) / (pairs.size + other.size);
    if (score > bestScore) {
      best = at;
      bestScore = score;
    }
  }
  return best;
}

function pairsOf(line: string): Set<string> {
  const text = mostLenient(line).slice(0, MAX_QUOTED).toLowerCase();
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < text.length; i++) pairs.add(text.slice(i, i + 2));
  return pairs;
}

/** Quoted so that every blank can be told from every other: tabs, NBSP, zero-width and control characters as escapes. */
export function quoteLine(line: string): string {
  const cut = line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
  return JSON.stringify(cut).replace(
    /[\u007f-\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff\ufffd]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
