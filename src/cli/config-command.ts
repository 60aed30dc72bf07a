/** `interpreter config show` and `interpreter config set`. */
import path from 'node:path';
import { explainConfig, formatExplanation, homeDir, type LoadOptions, setConfigValue } from '../config/index.js';
import type { Output } from './output.js';

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
  output.out(formatExplanation(explanation));
}

/** Sets one value of the user's config.toml and says where. Throws ConfigError; then nothing was written. */
export function setConfig(env: LoadOptions['env'], key: string, value: string, output: Output): void {
  const { file, warnings } = setConfigValue(path.join(homeDir(env), 'config.toml'), key, value);
  for (const warning of warnings) output.err(`warning: ${warning}\n`);
  output.out(`${key} set in ${file}\n`);
}
