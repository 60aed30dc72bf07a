/** The refs that keep snapshots: `refs/open-interpreter/<thread>/<turn>/<what>`. Old ones go, so that they do not pile up. */
import type { GitRepository } from './git.js';

const PREFIX = 'refs/open-interpreter/';
/** Turns whose snapshots are kept in one repository. */
const KEPT_TURNS = 100;

export function undoRef(threadId: string, turnId: string, what: 'before' | 'after' | 'undone' | 'redone'): string {
  return `${PREFIX}${threadId}/${turnId}/${what}`;
}

/** Throws GitError. */
export async function deleteRefs(repository: GitRepository, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  const input = refs.map(ref => `delete ${ref}\n`).join('');
  await repository.run(['update-ref', '--stdin'], { input: Buffer.from(input) });
}

/** Throws GitError. */
export async function deleteOldRefs(repository: GitRepository): Promise<void> {
  const output = await repository.run(['for-each-ref', '--format=%(refname)', PREFIX]);
  const refs = output.toString('utf8').split('\n');
  // Ids of turns sort by time.
  const turns = [...new Set(refs.map(turnOf))].filter(turn => turn !== '').sort();
  const old = new Set(turns.slice(0, Math.max(0, turns.length - KEPT_TURNS)));
  await deleteRefs(
    repository,
    refs.filter(ref => old.has(turnOf(ref))),
  );
}

function turnOf(ref: string): string {
  return ref.slice(PREFIX.length).split('/')[1] ?? '';
}
