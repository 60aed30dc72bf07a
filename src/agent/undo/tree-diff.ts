/** What differs between two commits. */
import type { GitPath, GitRepository } from './git.js';
import { parts } from './snapshot.js';
import type { FileMode } from './work-file.js';

export type TreeEntry = { readonly mode: FileMode; readonly id: string };
/** Null: there is no such file. */
export type TreeChange = {
  readonly name: GitPath;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
};

/** Changes of files and links, by name; submodules are passed over. Throws GitError. */
export async function diffTrees(repository: GitRepository, before: string, after: string): Promise<TreeChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-ext-diff', '--full-index', before, after];
  const records = parts((await repository.run(args)).toString('latin1'));
  const changes: TreeChange[] = [];
  for (let i = 0; i + 1 < records.length; i += 2) {
    const [oldMode, newMode, oldId, newId] = (records[i] ?? '').slice(1).split(' ');
    const name = records[i + 1] ?? '';
    if (oldMode === '160000' || newMode === '160000' || !isPlain(name)) continue;
    changes.push({ name, before: entry(oldMode, oldId), after: entry(newMode, newId) });
  }
  return changes;
}

function entry(mode: string | undefined, id: string | undefined): TreeEntry | null {
  if (id === undefined || (mode !== '100644' && mode !== '100755' && mode !== '120000')) return null;
  return { mode, id };
}

/** A path that stays in the work tree and out of the repository, whatever a commit says. */
function isPlain(name: GitPath): boolean {
  return name.split('/').every(part => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}
