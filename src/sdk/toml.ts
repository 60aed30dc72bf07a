/** Configuration values as arguments of `--config`. */
import type { ConfigObject, ConfigValue } from './options.js';

/** `key=value` for each leaf, names dotted, values in TOML. Throws TypeError for a value that TOML does not have. */
export function configArguments(config: ConfigObject): string[] {
  return leaves(config, '');
}

function leaves(table: ConfigObject, prefix: string): string[] {
  return Object.entries(table).flatMap(([name, value]) => {
    if (name === '') throw new TypeError('A key of `config` is empty.');
    const path = prefix === '' ? key(name) : `${prefix}.${key(name)}`;
    // Left out, as JSON does; a program may have written a condition.
    if ((value as unknown) === undefined) return [];
    if (isTable(value) && Object.keys(value).length > 0) return leaves(value, path);
    return [`${path}=${literal(value, path)}`];
  });
}

/** Dots stay: names may be paths. Anything else that is no bare name is quoted. */
function key(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : quote(name);
}

export function literal(value: ConfigValue, path: string): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return String(value);
    throw new TypeError(`\`${path}\` of \`config\` is no finite number.`);
  }
  if (Array.isArray(value)) return `[${value.map((one, at) => literal(one, `${path}[${at}]`)).join(', ')}]`;
  if (!isTable(value)) throw new TypeError(`\`${path}\` of \`config\` is ${String(value)}, which TOML does not have.`);
  const entries = Object.entries(value).filter(([, one]) => (one as unknown) !== undefined);
  const pairs = entries.map(([name, one]) => {
    const bare = /^[\w-]+$/.test(name) ? name : quote(name);
    return `${bare} = ${literal(one, `${path}.${name}`)}`;
  });
  return `{${pairs.join(', ')}}`;
}

function isTable(value: unknown): value is ConfigObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON's escapes are TOML's, but for one character. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
