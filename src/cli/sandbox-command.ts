/** `interpreter sandbox`: runs one command as the agent would run it. */
import { commandEnvironment, loadConfig, providerVariables } from '../config/index.js';
import { policyEnvironment } from '../sandbox/index.js';
import { createLog } from './log.js';
import { openSandbox } from './open-sandbox.js';
import { type ConfigFlags, loadOptions } from './options.js';
import { ripgrepFolder } from './ripgrep.js';
import { runInSandbox } from './run-in-sandbox.js';

export type SandboxFlags = ConfigFlags & { sandbox?: string; permissions?: string; cd?: string };

/** Returns the exit code of the command. Throws ConfigError. */
export async function sandboxCommand(
  argv: readonly string[],
  { sandbox: mode, permissions, cd, ...flags }: SandboxFlags,
): Promise<number> {
  const env = process.env;
  const config = loadConfig({
    ...loadOptions(env, flags, cd),
    arguments: {
      ...(mode === undefined ? {} : { sandbox: mode }),
      ...(permissions === undefined ? {} : { permission_profile: permissions }),
    },
  });
  const sandbox = openSandbox(env, createLog(env));
  try {
    const own = commandEnvironment(config.shell_environment, env, {
      threadId: 'sandbox',
      dropNames: providerVariables(config.provider),
      extraPath: ripgrepFolder(),
    });
    return await runInSandbox({
      sandbox,
      policy: config.sandbox_policy,
      cwd: config.cwd,
      env: { ...own, ...policyEnvironment(config.sandbox_policy) },
      argv,
      writeError: text => void process.stderr.write(text),
    });
  } finally {
    await sandbox.close();
  }
}
