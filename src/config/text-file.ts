/** The text of a file, and where in it a key stands. */
import { type AST, parseTOML } from 'toml-eslint-parser';
import type { Path } from './check-table.js';
import { atPosition, type Position } from './errors.js';

export class TextFile {
  readonly path: string;
  readonly text: string;
  #tree: AST.TOMLTopLevelTable | null | undefined;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  /** The syntax tree, made when it is first asked for; null when there is none. */
  tree(): AST.TOMLTopLevelTable | null {
    if (this.#tree === undefined) this.#tree = parseTree(this.text);
    return this.#tree;
  }
}

function parseTree(text: string): AST.TOMLTopLevelTable | null {
  try {
    return parseTOML(text, { tomlVersion: '1.1' }).body[0];
  } catch {
    // Files are accepted by another parser; where the two disagree there is just no place to tell.
    return null;
  }
}

/** `message` with the place of a key in front and its line below; just the file when the place can't be told. */
export function atKey(file: TextFile, path: Path, message: string, part: 'key' | 'value'): string {
  const place = findKey(file, path);
  if (place === null) return `${file.path}: ${message}`;
  const node = part === 'value' && place.value !== null ? place.value : place.key;
  const position = positionOf(node);
  const length = node.loc.start.line === node.loc.end.line ? node.range[1] - node.range[0] : 1;
  return atPosition(file.path, file.text, position, length, message);
}

/** `path:line` of a key, or the path alone. */
export function lineOf(file: TextFile, path: Path): { readonly file: string; readonly line: number | null } {
  const place = findKey(file, path);
  return { file: file.path, line: place === null ? null : positionOf(place.key).line };
}

export type KeyPlace = {
  readonly key: AST.TOMLBare | AST.TOMLQuoted;
  /** Null for tables that only have a header. */
  readonly value: AST.TOMLContentNode | null;
};

/** Where a key (or the first key below it) stands. */
function findKey(file: TextFile, path: Path): KeyPlace | null {
  const top = file.tree();
  if (top === null) return null;
  let below: KeyPlace | null = null;
  for (const node of top.body) {
    const found = node.type === 'TOMLTable' ? inTable(node, path) : inKeyValue(node, [], path);
    if (found?.exact === true) return found.place;
    below ??= found?.place ?? null;
  }
  return below;
}

type Found = { readonly place: KeyPlace; readonly exact: boolean };

function inTable(node: AST.TOMLTable, path: Path): Found | null {
  let below: Found | null = null;
  const header = node.resolvedKey;
  if (isPrefix(path, header)) {
    const names = node.key.keys;
    const key = names[Math.min(names.length, path.filter(part => typeof part === 'string').length) - 1];
    if (key !== undefined) below = { place: { key, value: null }, exact: header.length === path.length };
    if (below?.exact === true) return below;
  }
  for (const pair of node.body) {
    const found = inKeyValue(pair, header, path);
    if (found?.exact === true) return found;
    below ??= found;
  }
  return below;
}

function inKeyValue(pair: AST.TOMLKeyValue, parent: Path, path: Path): Found | null {
  const full = pathOf(pair, parent);
  if (isPrefix(path, full)) {
    const key = pair.key.keys[path.length - parent.length - 1] ?? pair.key.keys[0];
    if (key === undefined) return null;
    const exact = full.length === path.length;
    return { place: { key, value: exact ? pair.value : null }, exact };
  }
  if (!isPrefix(full, path)) return null;
  const last = pair.key.keys.at(-1);
  return last === undefined ? null : inValue(pair.value, full, path, last);
}

/** Goes down into inline tables and lists; the closest place is as good as it gets. */
function inValue(node: AST.TOMLContentNode, here: Path, path: Path, key: KeyPlace['key']): Found {
  if (node.type === 'TOMLInlineTable') {
    for (const pair of node.body) {
      const found = inKeyValue(pair, here, path);
      if (found !== null) return found;
    }
  }
  if (node.type === 'TOMLArray') {
    const index = path[here.length];
    const element = typeof index === 'number' ? node.elements[index] : undefined;
    if (element !== undefined && typeof index === 'number') {
      return inValue(element, [...here, index], path, key);
    }
  }
  return { place: { key, value: node }, exact: true };
}

/** The path of a pair, given that of the table it stands in. */
export function pathOf(pair: AST.TOMLKeyValue, header: Path): Path {
  return [...header, ...pair.key.keys.map(key => (key.type === 'TOMLBare' ? key.name : key.value))];
}

export function isPrefix(short: Path, long: Path): boolean {
  return short.length <= long.length && short.every((part, i) => part === long[i]);
}

function positionOf(node: AST.TOMLNode): Position {
  return { line: node.loc.start.line, column: node.loc.start.column + 1 };
}
