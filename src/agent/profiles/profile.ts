/** What one family of models is shown: which tools, under which names and arguments, and the words about them. */
import type { Tool } from '../../tools/index.js';

export type Profile = {
  /** The value of `harness`, and what is stored with a thread. Lower case. */
  readonly name: string;
  /** Other values of `harness` that mean the same. */
  readonly aliases: readonly string[];
  /** True for a model that gets this profile where configuration says nothing. */
  readonly isDefaultFor: (modelId: string) => boolean;
  /** The base instructions, unless the caller brings his own. */
  readonly instructions: string;
  /** The tools, in the order in which they are offered. Called once for each thread that runs a turn. */
  readonly tools: (abilities: Abilities) => readonly Tool[];
};

export type Abilities = {
  /** The model can be shown pictures, and may be. */
  readonly images: boolean;
  /** Commands may go on as sessions that are read and written to (`features.unified_exec`); asked by `native` alone. */
  readonly sessions: boolean;
};
