/** A home, a system file and a working directory in a folder of their own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Config, ConfigError, type LoadOptions, loadConfig, parseOverride } from '../../src/config/index.js';

export type More = Partial<LoadOptions> & { readonly c?: readonly string[] };

export class World {
  readonly root = realpathSync(mkdtempSync(path.join(tmpdir(), 'config-test-')));
  readonly home = path.join(this.root, 'home');
  readonly cwd = path.join(this.root, 'work');
  readonly user = path.join(this.root, 'user');
  readonly system = path.join(this.root, 'system.toml');

  constructor() {
    for (const folder of [this.home, this.cwd, this.user]) mkdirSync(folder);
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  /** Writes a file below the root (absolute paths as they are) and returns its path. */
  write(file: string, text: string): string {
    const full = path.resolve(this.root, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  }

  config(text: string): string {
    return this.write('home/config.toml', text);
  }

  trust(folder = this.cwd): string {
    return `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`;
  }

  options({ c = [], env = {}, overrides = [], ...more }: More = {}): LoadOptions {
    return {
      env: { HOME: this.user, INTERPRETER_HOME: this.home, OPENAI_API_KEY: 'k', ...env },
      process_cwd: this.cwd,
      front_door: 'mcp-server',
      system_file: this.system,
      overrides: [...c.map(one => parseOverride(one, '-c')), ...overrides],
      ...more,
    };
  }

  load(more: More = {}): Config {
    return loadConfig(this.options(more));
  }

  /** The message of the ConfigError that loading ends with, with the root shown as `~`. */
  failure(more: More = {}): string {
    return failureOf(() => this.load(more)).replaceAll(this.root, '~');
  }
}

export function failureOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}
