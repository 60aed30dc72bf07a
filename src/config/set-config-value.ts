/** Changes one value of a config file and leaves everything else as it stands: comments, order, layout. */
import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'smol-toml';
import { hasCode, messageOf } from '../util/index.js';
import { ConfigCache, parseToml } from './config-cache.js';
import { editToml } from './edit-toml.js';
import { ConfigError } from './errors.js';
import { absolutePath } from './home.js';
import { parseTomlValue, splitPath } from './override.js';
import { ALL_KEYS } from './schema.js';
import { mergeTables, type Table, tableAt, valueAt } from './tables.js';
import { TextFile } from './text-file.js';

export type SetResult = { readonly file: string; readonly warnings: readonly string[] };

/**
 * Sets `key` (a dotted path) in `file`. `value` is TOML notation, or plain text for keys that take a text. The file
 * and its folder are made when they are missing. Throws ConfigError, and then nothing was written.
 */
export function setConfigValue(file: string, key: string, value: string): SetResult {
  const names = splitPath(key, 'config set');
  const { parsed, warnings } = checkedValue(names, value);
  const target = targetOf(file);
  const before = target.text === null ? '' : target.text.replace(/^\uFEFF/, '');
  const old = parseToml(new TextFile(file, before));
  const after = editToml(new TextFile(file, before), names, notation(parsed, value));
  verify(file, after, old, names, parsed);
  write(target, (target.text?.startsWith('\uFEFF') === true ? '\uFEFF' : '') + after);
  return { file: target.path, warnings };
}

/** Text without quotes is taken as a text where TOML has no meaning for it or the key wants a text. */
function checkedValue(names: string[], value: string): { parsed: unknown; warnings: string[] } {
  const inToml = parseTomlValue(value);
  const candidates = inToml === undefined ? [value] : [inToml, value];
  const results = candidates.map(candidate => ({ candidate, issues: issuesOf(names, candidate) }));
  const good = results.find(({ issues }) => issues.every(issue => issue.kind === 'idle'));
  if (good === undefined) {
    const messages = (results[0]?.issues ?? []).map(issue => issue.message);
    throw new ConfigError(`${messages.join('\n')}; nothing was changed`);
  }
  return { parsed: good.candidate, warnings: good.issues.map(issue => issue.message) };
}

function issuesOf(names: string[], value: unknown) {
  const cache = new ConfigCache();
  return cache.check(tableAt(names, value), ALL_KEYS, one => absolutePath(one, '/', {})).issues;
}

/** The value as it was typed when that is TOML on one line, else in our notation. */
function notation(parsed: unknown, typed: string): string {
  if (!/[\r\n#]/.test(typed) && isDeepStrictEqual(parseTomlValue(typed), parsed)) return typed.trim();
  const text = stringify({ x: [parsed] });
  return text.slice(text.indexOf('[') + 1, text.lastIndexOf(']')).trim();
}

/** What was written must be what was there plus the change; anything else would damage the file. */
function verify(file: string, after: string, old: Table, names: readonly string[], value: unknown): void {
  const expected = mergeTables(withoutKey(old, names), tableAt(names, value));
  let result: Table | null = null;
  try {
    result = parseToml(new TextFile(file, after));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  if (result !== null && isDeepStrictEqual(plain(result), plain(expected))) return;
  throw new ConfigError(
    `${file}: \`${names.join('.')}\` can't be set without rewriting other parts of the file. Edit it by hand.`,
  );
}

function withoutKey(table: Table, names: readonly string[]): Table {
  const [first, ...rest] = names;
  if (first === undefined || valueAt(table, names) === undefined) return table;
  const entries = Object.entries(table).flatMap(([key, value]): [string, unknown][] => {
    if (key !== first) return [[key, value]];
    return rest.length === 0 ? [] : [[key, withoutKey(value as Table, rest)]];
  });
  return Object.fromEntries(entries);
}

/** Without the difference between tables with and without a prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return new Map(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

type Target = { readonly path: string; readonly text: string | null; readonly mode: number };

/** Links are followed: the file they point to is the one that is changed. */
function targetOf(file: string): Target {
  try {
    const real = realpathSync(file);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(real));
    return { path: real, text, mode: statSync(real).mode & 0o7777 };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { path: file, text: null, mode: 0o600 };
    throw new ConfigError(`${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** A reader sees the old file or the new one, never a part. */
function write(target: Target, text: string): void {
  const temporary = `${target.path}.${process.pid}.tmp`;
  try {
    mkdirSync(path.dirname(target.path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, text, { mode: target.mode, flag: 'wx', flush: true });
    chmodSync(temporary, target.mode);
    renameSync(temporary, target.path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new ConfigError(`${target.path}: cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
