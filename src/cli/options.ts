/** The options every sub-command takes, before or after its name. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError, featureOverride, type LoadOptions, type Override, parseOverride } from '../config/index.js';
import type { Env } from '../util/index.js';
import { ExitError } from './exit-error.js';
import { currentFolder } from './launch-folder.js';

export type ConfigFlags = Pick<LoadOptions, 'overrides' | 'profile' | 'strict'>;

/** Adds `-c`, `--enable`, `--disable`, `-p` and `--strict-config` to a command. */
export function addConfigOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-c, --config <key=value>', 'override a value of config.toml; repeatable').argParser(repeatable),
    )
    .addOption(new Option('--enable <feature>', 'same as -c features.<feature>=true; repeatable').argParser(repeatable))
    .addOption(
      new Option('--disable <feature>', 'same as -c features.<feature>=false; repeatable').argParser(repeatable),
    )
    .addOption(
      new Option('-p, --profile <name>', 'use a profile of config.toml, or HOME/<name>.config.toml').argParser(
        plainName,
      ),
    )
    .option('--strict-config', 'unknown keys in config.toml are errors');
}

/** For an option that may be given several times: all its values, in order. */
export function repeatable(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function plainName(name: string): string {
  if (/[/\\]/.test(name)) throw new InvalidArgumentError('A profile has a plain name, no path.');
  return name;
}

/**
 * What was given before the sub-command counts first, so that what stands nearer wins. Throws ExitError (1) for an
 * override that is none and for an unknown feature.
 */
export function configFlags(command: Command): ConfigFlags {
  const overrides: Override[] = [];
  let profile: string | undefined;
  let strict = false;
  for (let at: Command | null = command; at; at = at.parent) {
    const options = at.opts<{
      config?: string[];
      enable?: string[];
      disable?: string[];
      profile?: string;
      strictConfig?: boolean;
    }>();
    overrides.unshift(
      ...parsed(options.config, 'Error parsing -c overrides: ', text => parseOverride(text, '-c')),
      ...parsed(options.enable, 'Error: ', name => featureOverride(name, true)),
      ...parsed(options.disable, 'Error: ', name => featureOverride(name, false)),
    );
    profile ??= options.profile;
    strict ||= options.strictConfig === true;
  }
  return { overrides, strict, ...(profile === undefined ? {} : { profile }) };
}

function parsed(texts: readonly string[] | undefined, prefix: string, parse: (text: string) => Override): Override[] {
  try {
    return (texts ?? []).map(parse);
  } catch (error) {
    if (error instanceof ConfigError) throw new ExitError(1, prefix + error.message);
    throw error;
  }
}

/** How the configuration is loaded for a command that runs no turn of its own. `cwd`: the folder it is about. */
export function loadOptions(env: Env, flags: ConfigFlags, cwd?: string): LoadOptions {
  return {
    env,
    process_cwd: currentFolder(),
    front_door: 'mcp-server',
    ...flags,
    ...(cwd === undefined ? {} : { cwd }),
  };
}
