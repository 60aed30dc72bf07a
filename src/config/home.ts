/** Where the product keeps its things. */
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Env } from '../util/index.js';
import { ConfigError } from './errors.js';

/** INTERPRETER_HOME (which must be a folder; links resolved), else ~/.openinterpreter, which need not exist yet. */
export function homeDir(env: Env): string {
  const chosen = env['INTERPRETER_HOME'];
  if (chosen === undefined || chosen === '') return path.join(userHome(env), '.openinterpreter');
  if (statSync(chosen, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ConfigError(
      `INTERPRETER_HOME is set to ${chosen}, which is not a folder. Create it, or unset the variable to use ~/.openinterpreter.`,
    );
  }
  return realpathSync.native(chosen);
}

/** The person's own folder, which `~` stands for. */
function userHome(env: Env): string {
  return env['HOME'] || env['USERPROFILE'] || homedir();
}

/** `~` expanded, relative paths resolved against `base`. */
export function absolutePath(value: string, base: string, env: Env): string {
  if (value === '~') return userHome(env);
  if (value.startsWith('~/')) return path.join(userHome(env), value.slice(2));
  return path.resolve(base, value);
}
