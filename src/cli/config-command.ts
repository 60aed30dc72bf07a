/** `interpreter config show` and `interpreter config set`. */
import path from 'node:path';
import { type ExplainedValue, explainConfig, homeDir, type LoadOptions, setConfigValue } from '../config/index.js';

export type Output = { readonly out: (text: string) => void; readonly err: (text: string) => void };

/**
 * Prints every effective value with the layer and the line it came from: TOML with a comment on each line, or, with
 * `json`, `{ "values": [...], "warnings": [...] }`. Throws ConfigError.
 */
export function showConfig(options: LoadOptions, json: boolean, output: Output): void {
  const explanation = explainConfig(options);
  if (json) {
    output.out(`${JSON.stringify(explanation, null, 2)}\n`);
    return;
  }
  for (const warning of explanation.warnings) output.err(`warning: ${warning}\n`);
  output.out(explanation.values.map(line).join(''));
}

/** Sets one value of the user's config.toml and says where. Throws ConfigError; then nothing was written. */
export function setConfig(env: LoadOptions['env'], key: string, value: string, output: Output): void {
  const { file, warnings } = setConfigValue(path.join(homeDir(env), 'config.toml'), key, value);
  for (const warning of warnings) output.err(`warning: ${warning}\n`);
  output.out(`${key} set in ${file}\n`);
}

function line(one: ExplainedValue): string {
  const place = one.source === null ? '' : ` ${one.source}${one.line === null ? '' : `:${one.line}`}`;
  if (one.value === null) return `# ${one.key} is not set${one.note === null ? '' : `: ${one.note}`}\n`;
  return `${one.key} = ${toml(one.value)}  # ${one.layer}${place}\n`;
}

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(
    ([key, one]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${toml(one)}`,
  );
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
