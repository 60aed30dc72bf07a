/** TOML files: read once per change, parsed, and searched for the place of a key. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { type AST, parseTOML } from 'toml-eslint-parser';
import type { z } from 'zod';
import { hasCode, messageOf } from '../util/index.js';
import { type Checked, checkTable, type Path } from './check-table.js';
import { atPosition, ConfigError, type Position } from './errors.js';
import type { Absolute, Keys, ValueKey } from './keys.js';
import type { Table } from './tables.js';

export type TextFile = { readonly path: string; readonly text: string };
export type TomlFile = TextFile & { readonly table: Table };

type Cached<T> = { readonly stamp: string; readonly content: T };

/**
 * What was read before, for callers that load a configuration more than once: a file is read again when its inode,
 * size or modification time changed. Without one, everything is read each time.
 */
export class ConfigCache {
  readonly #texts = new Map<string, Cached<string>>();
  readonly #tables = new Map<string, Cached<Table>>();
  readonly #checks = new WeakMap<Table, Map<Keys, Checked>>();
  readonly #types = new Map<ValueKey, z.ZodType>();

  /** The text of a file, or null when there is none. Throws ConfigError when it can't be read. */
  readText(path: string): TextFile | null {
    const stamp = stampOf(path);
    if (stamp === null) return null;
    const known = this.#texts.get(path);
    if (known?.stamp === stamp) return { path, text: known.content };
    const text = decode(path);
    this.#texts.set(path, { stamp, content: text });
    return { path, text };
  }

  /** The same as TOML. */
  readToml(path: string): TomlFile | null {
    const file = this.readText(path);
    if (file === null) return null;
    const stamp = this.#texts.get(path)?.stamp ?? '';
    const known = this.#tables.get(path);
    if (known?.stamp === stamp) return { ...file, table: known.content };
    const table = parseToml(file);
    this.#tables.set(path, { stamp, content: table });
    return { ...file, table };
  }

  /** Checks a table; the result is kept as long as the table is. */
  check(table: Table, keys: Keys, absolute: Absolute): Checked {
    const known = this.#checks.get(table) ?? new Map<Keys, Checked>();
    this.#checks.set(table, known);
    const checked = known.get(keys) ?? checkTable(table, keys, { absolute, typeOf: key => this.#typeOf(key) });
    known.set(keys, checked);
    return checked;
  }

  #typeOf(key: ValueKey): z.ZodType {
    const type = this.#types.get(key) ?? key.type();
    this.#types.set(key, type);
    return type;
  }
}

/** Parses TOML; a mistake is a ConfigError that shows the line. */
export function parseToml(file: TextFile): Table {
  try {
    return parse(file.text);
  } catch (error) {
    if (!(error instanceof TomlError)) {
      throw new ConfigError(`${file.path}: cannot be parsed as TOML: ${messageOf(error)}`, { cause: error });
    }
    const message = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    const place = { line: error.line, column: error.column };
    throw new ConfigError(atPosition(file.path, file.text, place, 1, `invalid TOML: ${message}`), { cause: error });
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
export function findKey(file: TextFile, path: Path): KeyPlace | null {
  let top: AST.TOMLTopLevelTable;
  try {
    top = parseTOML(file.text, { tomlVersion: '1.1' }).body[0];
  } catch {
    // The file was accepted by the other parser; without a tree there is no place to tell.
    return null;
  }
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
  if (startsWith(header, path)) {
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
  const full = [...parent, ...pair.key.keys.map(nameOf)];
  if (startsWith(full, path)) {
    const key = pair.key.keys[path.length - parent.length - 1] ?? pair.key.keys[0];
    if (key === undefined) return null;
    const exact = full.length === path.length;
    return { place: { key, value: exact ? pair.value : null }, exact };
  }
  if (!startsWith(path, full)) return null;
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

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value;
}

function startsWith(long: Path, short: Path): boolean {
  return long.length >= short.length && short.every((part, i) => part === long[i]);
}

function positionOf(node: AST.TOMLNode): Position {
  return { line: node.loc.start.line, column: node.loc.start.column + 1 };
}

function stampOf(path: string): string | null {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return null;
    throw new ConfigError(`${path}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (stats === undefined) return null;
  if (!stats.isFile()) throw new ConfigError(`${path}: is not a file`);
  return `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}

function decode(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const what = error instanceof TypeError ? 'is not valid UTF-8' : `cannot be read: ${messageOf(error)}`;
    throw new ConfigError(`${path}: ${what}`, { cause: error });
  }
}
