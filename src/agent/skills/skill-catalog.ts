/** The skills on the disk. A file that has not changed since the last look is not read again. */
import type { Stats } from 'node:fs';
import { promises as fs } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { messageOf } from '../../util/index.js';
import { findSkillFiles, type SkillFile } from './find-skill-files.js';
import { readHead } from './read-head.js';
import { readSkill, type Skill } from './skill.js';
import type { SkillRoot } from './skill-roots.js';

export type SkillCatalogOptions = {
  readonly roots: readonly SkillRoot[];
  /** Folders of skills, or their SKILL.md files, that are switched off. Absolute. */
  readonly disabled: readonly string[];
  /** Told once about each thing that is wrong. */
  readonly warn: (message: string) => void;
};

/** Enough for any head. */
const HEAD_BYTES = 32 * 1024;

type Known = { readonly version: string; readonly skill: Skill | null };

export class SkillCatalog {
  readonly #options: SkillCatalogOptions;
  readonly #told = new Set<string>();
  #known = new Map<string, Known>();

  constructor(options: SkillCatalogOptions) {
    this.#options = options;
  }

  /** The skills as they are now, by the order of the roots; of several with one name the first. Never throws. */
  async skills(): Promise<Skill[]> {
    const files = await findSkillFiles(this.#options.roots, this.#warn);
    const known = new Map<string, Known>();
    const skills = await Promise.all(
      files.map(async file => {
        const version = versionOf(file.stats);
        const before = this.#known.get(file.path);
        const now = before?.version === version ? before : { version, skill: await this.#read(file) };
        known.set(file.path, now);
        return now.skill;
      }),
    );
    this.#known = known;
    const byName = new Map<string, Skill>();
    for (const skill of skills) if (skill && !byName.has(skill.name)) byName.set(skill.name, skill);
    return [...byName.values()];
  }

  async #read(file: SkillFile): Promise<Skill | null> {
    try {
      if (await this.#isDisabled(file.path)) return null;
      const real = await fs.realpath(file.path);
      if (file.root.within !== null && !isWithin(await fs.realpath(file.root.within), real)) {
        return this.#leaveOut(file, 'it is a link that leads out of the project');
      }
      const skill = readSkill(file.path, await readHead(real, HEAD_BYTES));
      return typeof skill === 'string' ? this.#leaveOut(file, skill) : skill;
    } catch (error) {
      return this.#leaveOut(file, messageOf(error));
    }
  }

  async #isDisabled(path: string): Promise<boolean> {
    const { disabled } = this.#options;
    if (disabled.length === 0) return false;
    const places = new Set([path, dirname(path), ...(await real(path)), ...(await real(dirname(path)))]);
    const all = await Promise.all(disabled.map(async one => [one, ...(await real(one))]));
    return all.flat().some(one => places.has(one));
  }

  #leaveOut(file: SkillFile, problem: string): null {
    this.#warn(`The skill ${JSON.stringify(file.path)} is not used: ${problem}.`);
    return null;
  }

  #warn = (message: string): void => {
    if (!this.#told.has(message)) this.#options.warn(message);
    this.#told.add(message);
  };
}

function versionOf(stats: Stats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(':');
}

function isWithin(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

async function real(path: string): Promise<string[]> {
  try {
    return [await fs.realpath(path)];
  } catch {
    // Gone: then it is nothing that could be used or switched off.
    return [];
  }
}
