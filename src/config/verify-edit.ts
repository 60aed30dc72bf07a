/** Proof that an edited file holds what it should: anything else would be damage. */
import { isDeepStrictEqual } from 'node:util';
import { parseToml } from './config-cache.js';
import { ConfigError } from './errors.js';
import { isTable, type Table, valueAt } from './tables.js';
import { TextFile } from './text-file.js';

export type Edited = {
  readonly file: string;
  /** The text after the change. */
  readonly after: string;
  /** What it has to hold. */
  readonly expected: Table;
  /** What was changed, and how. */
  readonly names: readonly string[];
  readonly verb: 'set' | 'removed';
};

/**
 * Throws ConfigError when the text is not TOML for what is expected. An empty table around the change makes no
 * difference: it may have existed through what was changed alone.
 */
export function verifyEdit({ file, after, expected, names, verb }: Edited): void {
  let result: Table | null = null;
  try {
    result = parseToml(new TextFile(file, after));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  const same = (a: Table, b: Table) => isDeepStrictEqual(plain(withoutEmpty(a, names)), plain(withoutEmpty(b, names)));
  if (result !== null && same(result, expected)) return;
  throw new ConfigError(
    `${file}: \`${names.join('.')}\` can't be ${verb} without rewriting other parts of the file. Edit it by hand.`,
  );
}

/** The table without the value at a path; the tables around it stay. */
export function withoutKey(table: Table, names: readonly string[]): Table {
  const [first, ...rest] = names;
  if (first === undefined || valueAt(table, names) === undefined) return table;
  const entries = Object.entries(table).flatMap(([key, value]): [string, unknown][] => {
    if (key !== first) return [[key, value]];
    return rest.length === 0 ? [] : [[key, withoutKey(value as Table, rest)]];
  });
  return Object.fromEntries(entries);
}

/** Without tables on the way to `names` that hold nothing. */
function withoutEmpty(table: Table, names: readonly string[]): Table {
  const [first, ...rest] = names;
  const inner = first === undefined ? undefined : valueAt(table, [first]);
  if (first === undefined || !isTable(inner)) return table;
  const kept = withoutEmpty(inner, rest);
  return Object.keys(kept).length === 0 ? withoutKey(table, [first]) : { ...table, [first]: kept };
}

/** Without the difference between tables with and without a prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return new Map(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}
