/** Takes a value or a table out of the text of a TOML file. Comments stay, also those above what is removed. */
import type { AST } from 'toml-eslint-parser';
import type { Path } from './check-table.js';
import { ConfigError } from './errors.js';
import { isPrefix, pathOf, type TextFile } from './text-file.js';

type Range = readonly [number, number];

/** The text without `path` and everything below it. */
export function removeFromToml(file: TextFile, path: readonly string[]): string {
  const top = file.tree();
  if (top === null) throw new ConfigError(`${file.path}: its layout is not understood. Edit it by hand.`);
  const ranges = top.body.flatMap(node => {
    if (node.type === 'TOMLKeyValue') return inPair(file.text, node, [], path);
    if (isPrefix(path, node.resolvedKey)) return [wholeLines(file.text, [node.range[0], endOf(node)], true)];
    return node.body.flatMap(pair => inPair(file.text, pair, node.resolvedKey, path));
  });
  const left = ranges.reduceRight((text, [from, to]) => text.slice(0, from) + text.slice(to), file.text);
  // Empty lines that stood between the rest and what was removed from the end.
  return ranges.at(-1)?.[1] === file.text.length ? left.replace(/(\r?\n)(?:[ \t]*\r?\n)+$/, '$1') : left;
}

function inPair(text: string, pair: AST.TOMLKeyValue, header: Path, path: readonly string[]): Range[] {
  const full = pathOf(pair, header);
  if (isPrefix(path, full)) return [wholeLines(text, pair.range, false)];
  if (pair.value.type !== 'TOMLInlineTable' || !isPrefix(full, path)) return [];
  return inInlineTable(pair.value, full, path);
}

/** Members between commas: a member goes with the comma before it, the first one with the comma after it. */
function inInlineTable(table: AST.TOMLInlineTable, header: Path, path: readonly string[]): Range[] {
  return table.body.flatMap((pair, i): Range[] => {
    const full = pathOf(pair, header);
    const before = table.body[i - 1];
    const after = table.body[i + 1];
    if (!isPrefix(path, full)) {
      return pair.value.type === 'TOMLInlineTable' && isPrefix(full, path) ? inInlineTable(pair.value, full, path) : [];
    }
    if (before !== undefined) return [[before.range[1], pair.range[1]]];
    if (after !== undefined) return [[pair.range[0], after.range[0]]];
    return [[table.range[0] + 1, table.range[1] - 1]];
  });
}

/** The lines a node stands on, to the end of the last one; `gap`: with the empty lines below them. */
function wholeLines(text: string, [start, end]: Range, gap: boolean): Range {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', end);
  if (lineEnd < 0) return [from, text.length];
  const below = gap ? (/^(?:[ \t]*\r?\n)*/.exec(text.slice(lineEnd + 1))?.[0].length ?? 0) : 0;
  return [from, lineEnd + 1 + below];
}

function endOf(table: AST.TOMLTable): number {
  return table.body.at(-1)?.range[1] ?? table.key.range[1];
}
