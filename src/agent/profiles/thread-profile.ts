/** The profile of one thread, with the tools it comes to there. */
import type { Config } from '../../config/index.js';
import type { ModelInfo, TurnError } from '../../protocol/index.js';
import type { Tool } from '../../tools/index.js';
import { chooseProfile } from './choose-profile.js';
import type { Profile } from './profile.js';

type ThreadProfileConfig = Pick<Config, 'harness' | 'model' | 'features'>;

export type ThreadProfile = {
  readonly profile: Profile;
  /** Why no turn can be run. */
  readonly problem: TurnError | null;
  /** Made when they are first asked for. */
  readonly tools: () => readonly Tool[];
};

/** Makes the tools that threads of this kind have, and their descriptions: what the first thread would wait for. */
export function prepareTools(config: ThreadProfileConfig, model: ModelInfo): void {
  for (const tool of createThreadProfile(config, model, null).tools()) void tool.spec;
}

/** `stored`: the name that was stored with the thread; null for a new one. */
export function createThreadProfile(
  config: ThreadProfileConfig,
  model: ModelInfo,
  stored: string | null,
): ThreadProfile {
  const { profile, problem } = chooseProfile({ harness: config.harness, model: config.model, stored });
  const { unified_exec, view_image } = config.features;
  let tools: readonly Tool[] | undefined;
  return {
    profile,
    problem: problem === null ? null : { message: problem, kind: 'configuration' },
    tools: () => {
      tools ??= profile.tools({ images: view_image && model.images, sessions: unified_exec });
      return tools;
    },
  };
}
