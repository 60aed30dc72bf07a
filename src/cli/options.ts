/** The options every sub-command takes, before or after its name. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError, featureOverride, type LoadOptions, type Override, parseOverride } from '../config/index.js';

export type ConfigFlags = Pick<LoadOptions, 'overrides' | 'profile' | 'strict'>;

/** Adds `-c`, `--enable`, `--disable`, `-p` and `--strict-config` to a command. */
export function addConfigOptions(command: Command): Command {
  const overrides = (parse: (text: string) => Override) => (text: string, before: Override[] | undefined) => {
    try {
      return [...(before ?? []), parse(text)];
    } catch (error) {
      if (error instanceof ConfigError) throw new InvalidArgumentError(error.message);
      throw error;
    }
  };
  return command
    .addOption(
      new Option('-c, --config <key=value>', 'override a value of config.toml; repeatable').argParser(
        overrides(text => parseOverride(text, '-c')),
      ),
    )
    .addOption(
      new Option('--enable <feature>', 'same as -c features.<feature>=true; repeatable').argParser(
        overrides(name => featureOverride(name, true)),
      ),
    )
    .addOption(
      new Option('--disable <feature>', 'same as -c features.<feature>=false; repeatable').argParser(
        overrides(name => featureOverride(name, false)),
      ),
    )
    .option('-p, --profile <name>', 'use a profile of config.toml, or HOME/<name>.config.toml')
    .option('--strict-config', 'unknown keys in config.toml are errors');
}

/** What was given before the sub-command counts first, so that what stands nearer wins. */
export function configFlags(command: Command): ConfigFlags {
  const overrides: Override[] = [];
  let profile: string | undefined;
  let strict = false;
  for (let at: Command | null = command; at; at = at.parent) {
    const options = at.opts<{
      config?: Override[];
      enable?: Override[];
      disable?: Override[];
      profile?: string;
      strictConfig?: boolean;
    }>();
    overrides.unshift(...(options.config ?? []), ...(options.enable ?? []), ...(options.disable ?? []));
    profile ??= options.profile;
    strict ||= options.strictConfig === true;
  }
  return { overrides, strict, ...(profile === undefined ? {} : { profile }) };
}
