/** The rules files of a thread, read at the start of each turn and after a rule was saved. */
import { loadRules, NO_RULES, type Rules } from '../approvals/index.js';
import type { ThreadRules } from './turn-setup.js';

export class LoadedThreadRules implements ThreadRules {
  readonly #folders: readonly string[];
  readonly #warn: (message: string) => void;
  readonly #told = new Set<string>();
  #rules: Rules = NO_RULES;

  /** `warn` is told once what is wrong with each file. */
  constructor(folders: readonly string[], warn: (message: string) => void) {
    this.#folders = folders;
    this.#warn = warn;
  }

  current(): Rules {
    return this.#rules;
  }

  async reload(): Promise<void> {
    const { rules, problems } = await loadRules(this.#folders);
    this.#rules = rules;
    for (const problem of problems) {
      if (!this.#told.has(problem)) this.#warn(problem);
      this.#told.add(problem);
    }
  }
}
