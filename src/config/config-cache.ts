/** Files of configuration, read and checked once per change. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import type * as z from 'zod';
import { hasCode, messageOf } from '../util/index.js';
import { type Checked, checkTable } from './check-table.js';
import { atPosition, ConfigError } from './errors.js';
import type { Absolute, Keys, ValueKey } from './keys.js';
import type { Table } from './tables.js';
import { TextFile } from './text-file.js';

type Cached = { readonly stamp: string; readonly file: TextFile; table?: Table };

/**
 * What was read before, for callers that load a configuration more than once: a file is read again when its inode,
 * size or modification time changed. Without one, everything is read each time.
 */
export class ConfigCache {
  readonly #files = new Map<string, Cached>();
  readonly #checks = new WeakMap<Table, Map<Keys, Checked>>();
  readonly #types = new Map<ValueKey, z.ZodType>();

  /** The text of a file, or null when there is none. Throws ConfigError when it can't be read. */
  readText(path: string): TextFile | null {
    return this.#read(path)?.file ?? null;
  }

  /** The same as TOML. */
  readToml(path: string): { readonly file: TextFile; readonly table: Table } | null {
    const cached = this.#read(path);
    if (cached === null) return null;
    cached.table ??= parseToml(cached.file);
    return { file: cached.file, table: cached.table };
  }

  /** Checks a table; the result is kept as long as the table is. */
  check(table: Table, keys: Keys, absolute: Absolute): Checked {
    const known = this.#checks.get(table) ?? new Map<Keys, Checked>();
    this.#checks.set(table, known);
    const checked = known.get(keys) ?? checkTable(table, keys, { absolute, typeOf: key => this.#typeOf(key) });
    known.set(keys, checked);
    return checked;
  }

  #read(path: string): Cached | null {
    const stamp = stampOf(path);
    if (stamp === null) {
      this.#files.delete(path);
      return null;
    }
    const known = this.#files.get(path);
    if (known?.stamp === stamp) return known;
    const cached: Cached = { stamp, file: new TextFile(path, decode(path)) };
    this.#files.set(path, cached);
    return cached;
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
