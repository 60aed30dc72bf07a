/**
 * Writes a verified patch: all of it or nothing. Everything that can fail for lack of space or rights happens on
 * temporary files beside the targets; only renames remain for the end, and they are undone when one of them fails.
 * All calls are synchronous on purpose: they take microseconds, and nothing else of this process comes between them.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { messageOf } from '../../util/index.js';
import { type DirectoryWalk, openDirectoryWalk } from './directory-walk.js';
import type { PatchPlan, PlannedWrite } from './plan-patch.js';
import { PatchRefusal, refusalFrom } from './refusal.js';
import { StagedWrite } from './staged-write.js';

export type WriteOptions = {
  /** True under a sandbox policy: nobody then gains the rights of a file's owner or reaches another name of a file. */
  readonly confined: boolean;
  /** Asked for the real path of everything that is written or removed; null = it may be, else the reason against it. */
  readonly problem: (realPath: string) => string | null;
  readonly signal?: AbortSignal;
};

export type WriteOutcome =
  | { type: 'written' }
  /** Everything is as it was. `refused`: it may not be written there. */
  | { type: 'refused' | 'unchanged'; message: string }
  /** A failure that could not be undone; `message` names what is changed and what is not. */
  | { type: 'partial'; message: string };

export function writePlan(plan: PatchPlan, options: WriteOptions): WriteOutcome {
  for (const write of plan.writes) {
    const problem = options.problem(write.real);
    if (problem !== null) return { type: 'refused', message: `patch rejected: ${write.path}: ${problem}` };
  }
  if (options.signal?.aborted) return { type: 'unchanged', message: 'interrupted; no file was changed' };
  const walk = openDirectoryWalk();
  try {
    return writeAll(plan.writes, walk, options.confined);
  } finally {
    walk.close();
  }
}

function writeAll(writes: readonly PlannedWrite[], walk: DirectoryWalk, confined: boolean): WriteOutcome {
  const staged: StagedWrite[] = [];
  const undoable = writes.length > 1;
  try {
    for (const write of writes) {
      staged.push(attempt(write, () => stage(write, walk, { confined, undoable })));
    }
    walk.recheck();
    for (const one of staged) attempt(one.write, () => one.commit());
    walk.recheck();
  } catch (error) {
    return undo(staged, walk, error);
  }
  for (const one of staged) one.discardBackup();
  return { type: 'written' };
}

function stage(write: PlannedWrite, walk: DirectoryWalk, how: { confined: boolean; undoable: boolean }): StagedWrite {
  const directory = walk.open(path.dirname(write.real));
  const suffix = randomBytes(6).toString('hex');
  const one = new StagedWrite({
    write,
    target: `${directory}/${path.basename(write.real)}`,
    temporary: `${directory}/.patch-${suffix}.new`,
    backup: how.undoable ? `${directory}/.patch-${suffix}.old` : null,
    confined: how.confined,
  });
  try {
    one.prepare();
  } catch (error) {
    one.discard();
    throw error;
  }
  return one;
}

/** System errors get the name of the file, and not the descriptor path they happened on. */
function attempt<T>(write: PlannedWrite, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof PatchRefusal) throw error;
    throw refusalFrom(error, `cannot write ${write.path}`);
  }
}

function undo(staged: readonly StagedWrite[], walk: DirectoryWalk, cause: unknown): WriteOutcome {
  const stuck: string[] = [];
  for (const one of staged.toReversed()) {
    try {
      attempt(one.write, () => one.undo());
    } catch (error) {
      stuck.push(
        `changed: ${messageOf(error)}${one.backupName ? `; its old content may be in ${one.backupName}` : ''}`,
      );
    }
    one.discard();
  }
  walk.removeMade();
  if (!(cause instanceof PatchRefusal)) throw cause;
  if (stuck.length === 0) return { type: 'unchanged', message: `${cause.message}. No file was changed` };
  const kept = staged.filter(one => !one.changed).map(one => `not changed: ${one.write.path}`);
  return {
    type: 'partial',
    message: [`${cause.message}. What was written before could not all be undone:`, ...stuck, ...kept].join('\n'),
  };
}
