/** What the model of a thread is told about its surroundings, and what of it was told before. */
import type { Config } from '../config/index.js';
import type { HistoryItem } from '../protocol/index.js';
import { contextItems, currentContext, type SentContext } from './context.js';
import type { AgentDeps } from './deps.js';
import type { ThreadSkills } from './skills/index.js';
import { timezoneName } from './timezone.js';

export type ThreadContextOptions = {
  readonly config: Config;
  readonly deps: AgentDeps;
  readonly skills: ThreadSkills;
  /** Keeps with the thread what was told. */
  readonly record: (sent: SentContext) => void;
};

export class ThreadContext {
  readonly #options: ThreadContextOptions;
  #sent: SentContext | null = null;

  constructor(options: ThreadContextOptions) {
    this.#options = options;
  }

  /** What was told in a thread that was read; null = nothing. */
  restore(sent: SentContext | null): void {
    this.#sent = sent;
  }

  /** The context as it stands now. */
  async now(): Promise<SentContext> {
    const { config, deps, skills } = this.#options;
    return currentContext({
      config,
      shell: deps.shell,
      tmpdir: deps.env['TMPDIR'] ?? null,
      skills: await skills.listing(),
      now: new Date(),
      timezone: timezoneName(deps.env),
      warn: deps.warn,
    });
  }

  /** Hands `add` what changed since it was told last; then it counts as told. */
  tell(context: SentContext, add: (items: readonly HistoryItem[]) => void): void {
    add(contextItems(context, this.#sent));
    this.#remember(context);
  }

  /** The whole context, for a history that starts afresh. */
  async fresh(): Promise<HistoryItem[]> {
    const context = await this.now();
    this.#remember(context);
    return contextItems(context, null);
  }

  #remember(context: SentContext): void {
    this.#sent = context;
    this.#options.record(context);
  }
}
