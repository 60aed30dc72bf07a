/** Overrides: `-c key=value`, `--enable`, and the `config` of a call. */
import { parse, TomlError } from 'smol-toml';
import { FEATURES, type Override } from './config.js';
import { ConfigError } from './errors.js';
import { KNOWN_KEYS } from './known-keys.js';
import { nearestKey } from './nearest-key.js';
import { isTable, makeTable, valueAt } from './tables.js';

/** The source of overrides that came with a call; threads keep those for their resume. */
export const CALL_CONFIG = 'the config argument';

/**
 * `text` is `key=value`; the key is a dotted path, the value TOML or, failing that, the text itself without its outer
 * quotes. `source` is how messages name it, e.g. `-c`. Throws ConfigError.
 */
export function parseOverride(text: string, source: string): Override {
  const equals = text.indexOf('=');
  if (equals < 0) throw new ConfigError(`Invalid override (missing '='): ${text}. Write ${source} key=value.`);
  const path = text.slice(0, equals).trim();
  if (path === '') throw new ConfigError(`Invalid override (empty key): ${text}. Write ${source} key=value.`);
  splitPath(path, source);
  const value = text.slice(equals + 1).trim();
  return { path, value: parseTomlValue(value) ?? withoutQuotes(value), source };
}

/**
 * The `config` of a call as overrides. Keys may be dotted, values nested; nulls are dropped. An empty `mcp_servers`
 * stays: it means none for this call.
 */
export function flattenCallConfig(config: object): Override[] {
  return Object.entries(config).flatMap(([path, value]: [string, unknown]) =>
    value === null || value === undefined ? [] : [{ path, value: withoutNulls(value, path, 0), source: CALL_CONFIG }],
  );
}

/** `--enable name` (on) or `--disable name`. Throws ConfigError for a name nobody knows. */
export function featureOverride(name: string, on: boolean): Override {
  if (!Object.hasOwn(FEATURES, name) && !KNOWN_KEYS.has(`features.${name}`)) {
    const near = nearestKey(name, Object.keys(FEATURES));
    const hint = near === null ? `Known features: ${Object.keys(FEATURES).join(', ')}.` : `Did you mean ${near}?`;
    throw new ConfigError(`Unknown feature flag: ${name}. ${hint}`);
  }
  return { path: `features.${name}`, value: on, source: on ? '--enable' : '--disable' };
}

/** The names of a dotted path; names may be quoted as in TOML. Throws ConfigError. */
export function splitPath(path: string, source: string): string[] {
  const names = /["']/.test(path) ? quotedNames(path) : path.split('.').map(name => name.trim());
  if (names === null || names.some(name => name === '')) {
    throw new ConfigError(`Invalid override (bad key \`${path}\`) in ${source}: write names joined by dots.`);
  }
  return names;
}

function quotedNames(path: string): string[] | null {
  let here: unknown = parseToml(`${path} = 0`);
  if (here === undefined || path.includes('\n') || path.includes('=')) return null;
  const names: string[] = [];
  while (isTable(here)) {
    const entries: [string, unknown][] = Object.entries(here);
    const first = entries[0];
    if (first === undefined || entries.length > 1) return null;
    names.push(first[0]);
    here = first[1];
  }
  return names;
}

/** Text that begins with a quote and is no TOML: the quotes at its ends were not meant. */
function withoutQuotes(text: string): string {
  return /^["']/.test(text) ? text.replace(/^["']+|["']+$/g, '') : text;
}

/** One value in TOML notation; undefined when `text` is none. */
export function parseTomlValue(text: string): unknown {
  const table = parseToml(`_x_ = ${text}`);
  return table !== undefined && Object.keys(table).length === 1 ? valueAt(table, ['_x_']) : undefined;
}

function parseToml(text: string) {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof TomlError) return undefined;
    throw error;
  }
}

function withoutNulls(value: unknown, path: string, depth: number): unknown {
  if (depth > 64) throw new ConfigError(`\`${path}\` in ${CALL_CONFIG} is nested too deeply`);
  if (Array.isArray(value)) {
    return value.filter(one => one !== null).map(one => withoutNulls(one, path, depth + 1));
  }
  if (!isTable(value)) return value;
  return makeTable(
    Object.entries(value).flatMap(([key, one]): [string, unknown][] =>
      one === null || one === undefined ? [] : [[key, withoutNulls(one, path, depth + 1)]],
    ),
  );
}
