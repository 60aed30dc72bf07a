/** The environment of the commands and hooks of a thread. */
import { type Config, commandEnvironment, providerVariables } from '../config/index.js';
import type { AgentDeps } from './deps.js';

/** That of the process, as `[shell_environment_policy]` lets it through and without the key of the provider; outside a sandbox, which adds its own. */
export function threadEnvironment(
  threadId: string,
  config: Config,
  { env, extraPath }: Pick<AgentDeps, 'env' | 'extraPath'>,
): Record<string, string> {
  const dropNames = providerVariables(config.provider);
  return commandEnvironment(config.shell_environment, env, { threadId, dropNames, extraPath: extraPath() });
}
