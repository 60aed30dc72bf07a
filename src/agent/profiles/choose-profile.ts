/** Which profile a thread has: the one it began with, else what configuration says, else that of the model's family. */
import { claude } from './claude.js';
import { glm } from './glm.js';
import { kimi } from './kimi.js';
import { minimal } from './minimal.js';
import { native } from './native.js';
import type { Profile } from './profile.js';
import { qwen } from './qwen.js';

/** In the order in which they are asked about a model; `native` takes every one. */
const PROFILES: readonly Profile[] = [kimi, qwen, glm, claude, minimal, native];

export type ProfileQuery = {
  /** `Config.harness`; null = by the family of the model. */
  readonly harness: string | null;
  readonly model: string;
  /** The name stored with the thread; null for a new one. */
  readonly stored: string | null;
};

/** `problem`: configuration names a profile that does not exist; nothing is to be asked of a model then. */
export type ProfileChoice = { readonly profile: Profile; readonly problem: string | null };

/** The wire is not asked: every profile works on all of them. */
export function chooseProfile({ harness, model, stored }: ProfileQuery): ProfileChoice {
  // The history of a thread is full of calls of its tools.
  const own = stored === null ? undefined : named(stored);
  if (own) return { profile: own, problem: null };
  if (harness === null) return { profile: defaultFor(model), problem: null };
  const asked = named(harness);
  // Stored under the unknown name, so that the thread can go on once the configuration is right.
  return asked
    ? { profile: asked, problem: null }
    : { profile: { ...native, name: harness }, problem: unknownText(harness) };
}

function named(name: string): Profile | undefined {
  const wanted = name.toLowerCase();
  return PROFILES.find(profile => profile.name === wanted || profile.aliases.includes(wanted));
}

function defaultFor(model: string): Profile {
  return PROFILES.find(profile => profile.isDefaultFor(model)) ?? native;
}

function unknownText(harness: string): string {
  const known = PROFILES.map(profile => profile.name).sort();
  return `Unknown harness \`${harness}\` in the configuration. Known: ${known.join(', ')}. Leave \`harness\` out to choose by the family of the model.`;
}
