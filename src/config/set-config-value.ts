/** Changes one value of a config file and leaves everything else as it stands: comments, order, layout. */
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'smol-toml';
import { ConfigCache, parseToml } from './config-cache.js';
import { targetOf, textOf, writeTarget } from './config-target.js';
import { editToml } from './edit-toml.js';
import { ConfigError } from './errors.js';
import { absolutePath } from './home.js';
import { parseTomlValue, splitPath } from './override.js';
import { ALL_KEYS } from './schema.js';
import { dotted, isTable, mergeTables, tableAt } from './tables.js';
import { TextFile } from './text-file.js';
import { verifyEdit, withoutKey } from './verify-edit.js';

export type SetResult = { readonly file: string; readonly warnings: readonly string[] };

/**
 * Sets `key` (a dotted path) in `file`. `value` is TOML notation, or plain text for keys that take a text. The file
 * and its folder are made when they are missing. Throws ConfigError, and then nothing was written.
 */
export function setConfigValue(file: string, key: string, value: string): SetResult {
  const names = splitPath(key, 'config set');
  const { parsed, warnings } = checkedValue(names, value);
  const target = targetOf(file);
  const before = textOf(target);
  const old = parseToml(new TextFile(file, before));
  const after = editToml(new TextFile(file, before), names, notation(parsed, value));
  const expected = mergeTables(withoutKey(old, names), tableAt(names, parsed));
  verifyEdit({ file, after, expected, names, verb: 'set' });
  writeTarget(target, after);
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

export function issuesOf(names: readonly string[], value: unknown) {
  const cache = new ConfigCache();
  return cache.check(tableAt(names, value), ALL_KEYS, one => absolutePath(one, '/', {})).issues;
}

/** The value as it was typed when that is TOML on one line, else in our notation. */
function notation(parsed: unknown, typed: string): string {
  if (!/[\r\n#]/.test(typed) && isDeepStrictEqual(parseTomlValue(typed), parsed)) return typed.trim();
  return tomlValue(parsed);
}

/** A value in TOML notation, on one line where that is possible. */
export function tomlValue(parsed: unknown): string {
  if (isTable(parsed)) {
    const members = Object.entries(parsed).map(([key, value]) => `${dotted([key])} = ${tomlValue(value)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  const text = stringify({ x: [parsed] });
  return text.slice(text.indexOf('[') + 1, text.lastIndexOf(']')).trim();
}
