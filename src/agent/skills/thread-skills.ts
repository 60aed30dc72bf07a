/** The skills of one thread: what its context lists, and what its prompts mention. */
import type { Config } from '../../config/index.js';
import type { ModelInfo, UserInput } from '../../protocol/index.js';
import { messageOf } from '../../util/index.js';
import { skillsBlock } from './listing.js';
import { mentionedNames } from './mentions.js';
import type { Skill } from './skill.js';
import { SkillCatalog } from './skill-catalog.js';
import { skillMessage } from './skill-message.js';
import { skillRoots } from './skill-roots.js';

export type ThreadSkillsOptions = {
  readonly config: Pick<Config, 'cwd' | 'project_root' | 'home' | 'skills' | 'model_context_window'>;
  readonly model: Pick<ModelInfo, 'context_window'>;
  /** The person's home; null when there is none. */
  readonly userHome: string | null;
  /** Told once about each thing that is wrong with a skill. */
  readonly warn: (message: string) => void;
};

/** Share of the context window that the list may take, and its limits in bytes. */
const BUDGET_SHARE = 0.02;
const MIN_BUDGET = 1024;
const MAX_BUDGET = 16 * 1024;
/** Skills that one prompt can bring in. */
const MAX_MENTIONED = 8;

export class ThreadSkills {
  readonly #options: ThreadSkillsOptions;
  readonly #catalog: SkillCatalog;

  constructor(options: ThreadSkillsOptions) {
    this.#options = options;
    const { config, userHome, warn } = options;
    this.#catalog = new SkillCatalog({
      roots: skillRoots({ cwd: config.cwd, projectRoot: config.project_root, home: config.home, userHome }),
      disabled: config.skills.disabled_paths,
      warn,
    });
  }

  /** The block that lists the skills, as the disk is now; null when there are none or they are not to be told. */
  async listing(): Promise<string | null> {
    const { config, model } = this.#options;
    if (!config.skills.include_instructions) return null;
    const window = config.model_context_window ?? model.context_window;
    const budget = Math.min(MAX_BUDGET, Math.max(MIN_BUDGET, Math.floor(window * BUDGET_SHARE * 4)));
    return skillsBlock(await this.#catalog.skills(), budget);
  }

  /** The texts of the skills that a prompt mentions, as `<skill>` blocks. */
  async mentioned(input: readonly UserInput[]): Promise<string[]> {
    const names = input.flatMap(part => (part.type === 'text' ? mentionedNames(part.text) : []));
    if (names.length === 0) return [];
    const byName = new Map((await this.#catalog.skills()).map(skill => [skill.name, skill]));
    const skills = new Set(names.flatMap(name => byName.get(name) ?? []));
    const texts = await Promise.all([...skills].slice(0, MAX_MENTIONED).map(skill => this.#textOf(skill)));
    if (skills.size > MAX_MENTIONED) {
      this.#options.warn(
        `The prompt mentions ${skills.size} skills; the first ${MAX_MENTIONED} are put before the model.`,
      );
    }
    return texts.filter(text => text !== null);
  }

  async #textOf(skill: Skill): Promise<string | null> {
    try {
      return await skillMessage(skill);
    } catch (error) {
      this.#options.warn(`The skill ${skill.name} (${skill.file}) could not be read: ${messageOf(error)}`);
      return null;
    }
  }
}
