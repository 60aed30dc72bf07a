/** Where the repository of a worktree or submodule really is. */
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * The real paths that a `.git` file leads to: the git directory and, for a worktree, the one it shares. Empty when the
 * file is no pointer or leads nowhere.
 */
export function gitDirectories(gitFile: string): string[] {
  const pointer = /^gitdir: (.*)$/m.exec(readText(gitFile))?.[1];
  const gitDir = pointer === undefined ? null : realPath(resolve(dirname(gitFile), pointer.trim()));
  if (gitDir === null) return [];
  const common = readText(`${gitDir}/commondir`).trim();
  const commonDir = common === '' ? null : realPath(resolve(gitDir, common));
  return [gitDir, ...(commonDir === null ? [] : [commonDir])];
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not there: then there is nothing that it leads to.
    return '';
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    // A pointer to a removed repository.
    return null;
  }
}
