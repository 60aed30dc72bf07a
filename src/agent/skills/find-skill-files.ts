/** Finds SKILL.md files below the roots: one look at each root's folder and one at each place where a file may be. */
import type { Dirent, Stats } from 'node:fs';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { hasCode, messageOf } from '../../util/index.js';
import type { SkillRoot } from './skill-roots.js';

export type SkillFile = { readonly path: string; readonly root: SkillRoot; readonly stats: Stats };

/** Skills may be sorted into folders, so many levels deep. */
const MAX_DEPTH = 3;
/** A root that holds a whole file system by mistake costs no more than this. */
const MAX_FOLDERS = 1000;

/** In the order of the roots, by name within one. Hidden folders are passed over. `warn`: a root that can't be read. */
export async function findSkillFiles(
  roots: readonly SkillRoot[],
  warn: (message: string) => void,
): Promise<SkillFile[]> {
  const found = await Promise.all(roots.map(root => new Search(root, warn).run()));
  return found.flat();
}

class Search {
  readonly #root: SkillRoot;
  readonly #warn: (message: string) => void;
  #folders = 0;

  constructor(root: SkillRoot, warn: (message: string) => void) {
    this.#root = root;
    this.#warn = warn;
  }

  async run(): Promise<SkillFile[]> {
    const found = await this.#below(this.#root.folder, 1);
    if (this.#folders > MAX_FOLDERS) {
      this.#warn(`${this.#root.folder} holds more than ${MAX_FOLDERS} folders: some skills in it are not seen.`);
    }
    return found;
  }

  async #below(folder: string, depth: number): Promise<SkillFile[]> {
    const entries = (await this.#list(folder)).filter(
      entry => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()),
    );
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const found = await Promise.all(
      entries.map(async entry => {
        if (++this.#folders > MAX_FOLDERS) return [];
        const place = join(folder, entry.name);
        const path = join(place, 'SKILL.md');
        const stats = await statOf(path);
        if (stats) return stats.isFile() ? [{ path, root: this.#root, stats }] : [];
        // Links are followed to a skill, not to folders of them: that way no link leads in circles.
        return depth < MAX_DEPTH && entry.isDirectory() ? this.#below(place, depth + 1) : [];
      }),
    );
    return found.flat();
  }

  async #list(folder: string): Promise<Dirent[]> {
    try {
      return await fs.readdir(folder, { withFileTypes: true });
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) this.#warn(`Skills in ${folder} can't be read: ${messageOf(error)}`);
      return [];
    }
  }
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await fs.stat(path);
  } catch {
    // No file there, or a link to nowhere: then this folder is no skill.
    return null;
  }
}
