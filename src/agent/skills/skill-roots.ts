/** Where skills are looked for. */
import { join } from 'node:path';
import { directoriesDown } from '../agents-md.js';

export type SkillRoot = {
  readonly folder: string;
  /**
   * The folder that links in this root may not lead out of; null = anywhere. A project is somebody else's text, and
   * must not pass off any file of the machine as a skill; the person's own folders may link as they like.
   */
  readonly within: string | null;
};

export type SkillPlaces = {
  readonly cwd: string;
  readonly projectRoot: string;
  /** The person's home; null when there is none. */
  readonly userHome: string | null;
  /** The agent's home. */
  readonly home: string;
};

/** The nearest first: of two skills with one name the earlier counts. */
export function skillRoots({ cwd, projectRoot, userHome, home }: SkillPlaces): SkillRoot[] {
  const project = directoriesDown(projectRoot, cwd)
    .toReversed()
    .map(folder => ({ folder: join(folder, '.agents', 'skills'), within: projectRoot }));
  const own = [...(userHome === null ? [] : [join(userHome, '.agents', 'skills')]), join(home, 'skills')];
  return [...project.filter(root => !own.includes(root.folder)), ...own.map(folder => ({ folder, within: null }))];
}
