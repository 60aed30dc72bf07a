/** Changes one value of a config file and leaves everything else as it stands: comments, order, layout. */
import { isDeepStrictEqual } from 'node:util';
import { type EditResult, editConfig, issuesOf, tomlValue } from './edit-config.js';
import { ConfigError } from './errors.js';
import { parseTomlValue, splitPath } from './override.js';

/**
 * Sets `key` (a dotted path) in `file`. `value` is TOML notation, or plain text for keys that take a text. The file
 * and its folder are made when they are missing. Throws ConfigError, and then nothing was written.
 */
export function setConfigValue(file: string, key: string, value: string): EditResult {
  const path = splitPath(key, 'config set');
  const parsed = checkedValue(path, value);
  return editConfig(file, [{ type: 'set', path, value: parsed, notation: notation(parsed, value) }]);
}

/** Text without quotes is taken as a text where TOML has no meaning for it or the key wants a text. */
function checkedValue(path: string[], value: string): unknown {
  const inToml = parseTomlValue(value);
  const candidates = inToml === undefined ? [value] : [inToml, value];
  const results = candidates.map(candidate => ({ candidate, issues: issuesOf(path, candidate) }));
  const good = results.find(({ issues }) => issues.every(issue => issue.kind === 'idle'));
  if (good !== undefined) return good.candidate;
  const messages = (results[0]?.issues ?? []).map(issue => issue.message);
  throw new ConfigError(`${messages.join('\n')}; nothing was changed`);
}

/** The value as it was typed when that is TOML on one line, else in our notation. */
function notation(parsed: unknown, typed: string): string {
  if (!/[\r\n#]/.test(typed) && isDeepStrictEqual(parseTomlValue(typed), parsed)) return typed.trim();
  return tomlValue(parsed);
}
