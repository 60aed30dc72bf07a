/** Puts one value into the text of a TOML file. */
import type { AST } from 'toml-eslint-parser';
import type { Path } from './check-table.js';
import { ConfigError } from './errors.js';
import { dotted } from './tables.js';
import { isPrefix, pathOf, type TextFile } from './text-file.js';

/** The text with `path` set to `value` (TOML notation). Throws ConfigError when the file leaves no place for it. */
export function editToml(file: TextFile, path: readonly string[], value: string): string {
  const top = file.tree();
  if (top === null) throw new ConfigError(`${file.path}: its layout is not understood. Edit it by hand.`);
  const there = existing(top, path);
  if (there === 'table')
    throw new ConfigError(`${file.path}: \`${dotted(path)}\` is a table there. Set its keys one by one.`);
  if (there !== null) return splice(file.text, there.range, value);
  const newline = file.text.includes('\r\n') ? '\r\n' : '\n';
  const home = bestHome(top, path);
  const pair = `${dotted(path.slice(home.path.length))} = ${value}`;
  if (home.inline !== null) return intoInline(file.text, home.inline, pair);
  if (home.after !== null) return afterNode(file.text, home.after, pair, newline);
  if (path.length === 1) return atTop(file.text, top, pair, newline);
  return atEnd(file.text, `[${dotted(path.slice(0, -1))}]${newline}${dotted(path.slice(-1))} = ${value}`, newline);
}

/** What the path names now: a value, a table spread over the file, or nothing. */
function existing(top: AST.TOMLTopLevelTable, path: readonly string[]): AST.TOMLContentNode | 'table' | null {
  let found: AST.TOMLContentNode | 'table' | null = null;
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') found ??= existingInPair(node, [], path);
    else {
      if (isPrefix(path, node.resolvedKey)) found ??= 'table';
      for (const pair of node.body) found ??= existingInPair(pair, node.resolvedKey, path);
    }
  }
  return found;
}

function existingInPair(
  pair: AST.TOMLKeyValue,
  header: Path,
  path: readonly string[],
): AST.TOMLContentNode | 'table' | null {
  const full = pathOf(pair, header);
  if (isPrefix(path, full)) return path.length === full.length ? pair.value : 'table';
  if (!isPrefix(full, path) || pair.value.type !== 'TOMLInlineTable') return null;
  let found: AST.TOMLContentNode | 'table' | null = null;
  for (const inner of pair.value.body) found ??= existingInPair(inner, full, path);
  return found;
}

/** The table a key goes into: the longest existing beginning of its path. */
type Home = {
  /** Names that are already said by the place. */
  readonly path: Path;
  /** The node after whose line the key goes; null = a new place has to be made. */
  readonly after: AST.TOMLNode | null;
  readonly inline: AST.TOMLInlineTable | null;
  /** How much of the path the place shares. */
  readonly shared: number;
};

function bestHome(top: AST.TOMLTopLevelTable, path: readonly string[]): Home {
  const parent = path.slice(0, -1);
  const homes: Home[] = [{ path: [], after: parent.length === 0 ? lastPair(top) : null, inline: null, shared: 0 }];
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') homes.push(...homesInPair(node, [], parent));
    else {
      const header = node.resolvedKey;
      if (node.kind === 'standard' && header.length === parent.length && isPrefix(header, parent)) {
        homes.push({ path: header, after: node.body.at(-1) ?? node.key, inline: null, shared: header.length });
      }
      for (const pair of node.body) homes.push(...homesInPair(pair, header, parent));
    }
  }
  return homes.reduce((best, home) => (home.shared >= best.shared ? home : best));
}

/** Tables made by a dotted key take more dotted keys beside it; inline tables take keys inside. */
function homesInPair(pair: AST.TOMLKeyValue, header: Path, parent: readonly string[]): Home[] {
  const full = pathOf(pair, header);
  const homes: Home[] = [];
  for (let length = header.length + 1; length < full.length; length++) {
    if (isPrefix(full.slice(0, length), parent))
      homes.push({ path: header, after: pair, inline: null, shared: length });
  }
  if (pair.value.type === 'TOMLInlineTable' && isPrefix(full, parent)) {
    homes.push({ path: full, after: null, inline: pair.value, shared: full.length });
    for (const inner of pair.value.body) {
      const below = homesInPair(inner, full, parent);
      // Beside a dotted key inside an inline table means inside that table.
      homes.push(
        ...below.map(home =>
          home.inline === null ? { ...home, after: null, inline: pair.value as AST.TOMLInlineTable } : home,
        ),
      );
    }
  }
  return homes;
}

function lastPair(top: AST.TOMLTopLevelTable): AST.TOMLNode | null {
  return top.body.findLast(node => node.type === 'TOMLKeyValue') ?? null;
}

function intoInline(text: string, table: AST.TOMLInlineTable, pair: string): string {
  const last = table.body.at(-1);
  if (last === undefined) return splice(text, table.range, `{ ${pair} }`);
  return splice(text, [last.range[1], last.range[1]], `, ${pair}`);
}

function afterNode(text: string, node: AST.TOMLNode, pair: string, newline: string): string {
  const end = text.indexOf('\n', node.range[1]);
  const lineStart = text.lastIndexOf('\n', node.range[0] - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? '';
  if (end < 0) return `${text}${newline}${indent}${pair}${newline}`;
  return splice(text, [end + 1, end + 1], `${indent}${pair}${newline}`);
}

/** The first key before all tables: below the comment the file begins with. */
function atTop(text: string, top: AST.TOMLTopLevelTable, pair: string, newline: string): string {
  if (top.body.length === 0) return atEnd(text, pair, newline);
  const opening = /^(?:#[^\n]*\n)+(?=\s*\n|$)/.exec(text)?.[0] ?? /^#:schema[^\n]*\n/.exec(text)?.[0] ?? '';
  return splice(text, [opening.length, opening.length], `${pair}${newline}${newline}`);
}

function atEnd(text: string, addition: string, newline: string): string {
  if (text.trim() === '') return `${text}${addition}${newline}`;
  const gap = text.endsWith('\n') ? newline : newline + newline;
  return `${text}${gap}${addition}${newline}`;
}

function splice(text: string, [from, to]: readonly [number, number], insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}
