/** The configuration of one run, from its flags. */
import { type Config, inGitWorkTree, type LoadOptions, loadConfig } from '../../config/index.js';
import type { Env } from '../../util/index.js';
import { ExitError } from '../exit-error.js';
import { currentFolder } from '../launch-folder.js';
import type { ExecFlags, ExecTarget } from './exec-job.js';

/** Throws ConfigError. */
export function execConfig(options: LoadOptions, flags: ExecFlags, target: ExecTarget): Config {
  let config = loadConfig(options);
  if (target.type === 'review' && flags.model === undefined && config.review_model !== null) {
    config = { ...config, model: config.review_model };
  }
  if (!flags.bypassHookTrust || config.hooks.every(hook => hook.trusted)) return config;
  const warning = 'Hooks that nobody trusts are run: --dangerously-bypass-hook-trust was given.';
  return {
    ...config,
    hooks: config.hooks.map(hook => ({ ...hook, trusted: true })),
    warnings: [...config.warnings, warning],
  };
}

export function loadOptions(flags: ExecFlags, target: ExecTarget, env: Env): LoadOptions {
  const { model, addDirs, cd, oss, localProvider, profile } = flags;
  const sandbox = flags.yolo ? 'danger-full-access' : (flags.sandbox ?? defaultSandbox(target));
  return {
    env,
    process_cwd: currentFolder(),
    front_door: 'exec',
    can_ask: flags.approvalsFd !== undefined && !flags.yolo,
    overrides: flags.overrides ?? [],
    strict: flags.strict ?? false,
    ignore_user_config: flags.ignoreUserConfig,
    ignore_rules: flags.ignoreRules,
    persist: !flags.ephemeral,
    oss: localProvider ?? oss,
    logged_in: provider => provider === 'openai' && Boolean(env['CODEX_API_KEY']?.trim()),
    arguments: {
      writable_roots: addDirs,
      ...(model === undefined ? {} : { model }),
      ...(sandbox === undefined ? {} : { sandbox }),
    },
    ...(cd === undefined ? {} : { cwd: cd }),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** A review only looks. */
function defaultSandbox(target: ExecTarget): string | undefined {
  return target.type === 'review' ? 'read-only' : undefined;
}

/** Where changes can't be seen and undone, somebody has to say that it is meant. Throws ExitError. */
export function checkWorkTree(config: Config, flags: ExecFlags): void {
  if (flags.skipGitCheck || flags.yolo || inGitWorkTree(config.cwd)) return;
  throw new ExitError(
    1,
    `Not inside a trusted directory and --skip-git-repo-check was not specified. ${config.cwd} is in no git work tree, where changes could be seen and undone.`,
  );
}
