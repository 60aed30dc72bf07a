/** The programs of the person that a thread runs, as its configuration has them. */
import { type Config, providerVariables } from '../../config/index.js';
import { setVariables } from '../../util/index.js';
import type { AgentDeps } from '../deps.js';
import { threadEnvironment } from '../thread-environment.js';
import { Notifier } from './notify.js';
import { ThreadHooks } from './thread-hooks.js';

export type ThreadProgramsOptions = {
  readonly id: string;
  readonly config: Config;
  readonly deps: AgentDeps;
  /** Where the rollout is; null when there is none. */
  readonly transcriptPath: () => string | null;
  /** For the person. */
  readonly warn: (message: string) => void;
};

/** Hooks get the environment that the policy of the thread gives to commands. */
export function createHooks({ id, config, deps, transcriptPath, warn }: ThreadProgramsOptions): ThreadHooks {
  return new ThreadHooks({
    threadId: id,
    config,
    runner: deps.sandbox,
    shell: deps.shell,
    env: () => threadEnvironment(id, config, deps),
    transcriptPath,
    warn,
  });
}

/** No project can set this program, so it gets the environment of the process, but for the provider's key. */
export function createNotifier({ config, deps }: Pick<ThreadProgramsOptions, 'config' | 'deps'>): Notifier {
  return new Notifier({
    argv: config.notify,
    cwd: config.cwd,
    env: () => {
      const dropped = providerVariables(config.provider).map(name => [name, undefined]);
      return setVariables({ ...deps.env, ...Object.fromEntries(dropped) });
    },
    runner: deps.sandbox,
    warn: deps.warn,
  });
}
