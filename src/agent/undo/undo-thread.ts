/** `interpreter threads undo`: puts the files that a turn changed back to what they were before it. */
import type { CommandRunner, HistoryItem } from '../../protocol/index.js';
import { acquireThreadLock, openRollout, type RolloutWriter, type ThreadRecord } from '../../rollout/index.js';
import { type Env, messageOf } from '../../util/index.js';
import { message } from '../context.js';
import { readThread } from '../read-thread.js';
import { fileStates } from './file-states.js';
import { GitError, type GitPath, GitRepository, shownPath } from './git.js';
import { isAsExpected, restoreFile, type Step } from './restore-files.js';
import { takeSnapshot } from './snapshot.js';
import { diffTrees, type TreeChange } from './tree-diff.js';
import { temporaryFolder } from './turn-undo.js';
import { type UndoableTurn, type UndoNote, undoableTurns } from './undo-notes.js';
import { deleteRefs, undoRef } from './undo-refs.js';

export type UndoOptions = {
  /** The agent's home. */
  readonly home: string;
  readonly threadId: string;
  readonly runner: CommandRunner;
  /** Environment of the process. */
  readonly env: Env;
  /** Number of the turn, from 1; absent = the last one that changed files and was not undone. */
  readonly turn?: number;
  /** Takes the last undo back instead. */
  readonly redo?: boolean;
  /** Only says what would be done. */
  readonly dryRun?: boolean;
  /** Also files that changed after the turn, and a turn without a recorded end. */
  readonly force?: boolean;
  readonly warn: (message: string) => void;
};

export type UndoneFile = {
  /** As shown, relative to `root`. */
  readonly path: string;
  readonly done: 'restored' | 'created' | 'deleted' | 'left_alone';
  /** Why it was left alone. */
  readonly reason?: string;
};

export type UndoReport =
  | {
      readonly type: 'done';
      readonly turn: number;
      /** Absolute path of the work tree. */
      readonly root: string;
      readonly files: readonly UndoneFile[];
      readonly dry_run: boolean;
    }
  /** Nothing was changed; the message says why and what to do. */
  | { readonly type: 'refused'; readonly message: string; readonly conflicts: readonly string[] };

/** How long to wait for a turn that is just ending. */
const LOCK_WAIT_MS = 2000;
const LIMIT_MS = 60_000;
/** Files named to the model. */
const MAX_NAMED = 50;

/** Throws ThreadUnavailableError for an unknown thread. */
export async function undoThread(options: UndoOptions): Promise<UndoReport> {
  const { home, threadId, warn } = options;
  // An unknown thread is told as such, and not as one that is not in use.
  await readThread(home, threadId);
  const lock = await acquireThreadLock(home, threadId, { waitMs: LOCK_WAIT_MS, warn });
  if (lock.type === 'busy') {
    return refuse(`Thread ${threadId} is in use by process ${lock.held_by}. Undo again when its turn has ended.`);
  }
  try {
    return await new Undoing(options, await readThread(home, threadId)).run();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return refuse(`Nothing was undone: ${error.message}.`);
  } finally {
    lock.lock.release();
  }
}

class Undoing {
  readonly #options: UndoOptions;
  readonly #record: ThreadRecord;

  constructor(options: UndoOptions, record: ThreadRecord) {
    this.#options = options;
    this.#record = record;
  }

  async run(): Promise<UndoReport> {
    const turn = this.#choose();
    if (typeof turn === 'string') return refuse(turn);
    const { redo = false, force = false, dryRun = false } = this.#options;
    const last = turn.after ?? (redo ? turn.undone : null);
    if (last === null && !force) {
      return refuse(
        `Turn ${turn.turn} has no recorded end: its process died. Everything that has changed in ${turn.root} since it began would be undone; use --force for that, and --dry-run to see it.`,
      );
    }
    const repository = await this.#open(turn);
    if (typeof repository === 'string') return refuse(repository);
    if (dryRun && last !== null) return reportOf(turn, await this.#plan(repository, turn, last));
    const ref = undoRef(this.#options.threadId, turn.turn_id, redo ? 'redone' : 'undone');
    const present = await this.#present(repository, turn, ref);
    const plan = await this.#plan(repository, turn, last ?? present);
    if (plan.conflicts.length > 0 || dryRun) {
      await deleteRefs(repository, [ref]);
      return reportOf(turn, plan);
    }
    const files = await restore(repository.top, plan.steps);
    this.#write(turn, present, files);
    return { type: 'done', turn: turn.turn, root: repository.top, files, dry_run: false };
  }

  async #plan(repository: GitRepository, turn: UndoableTurn, after: string): Promise<Plan> {
    const steps = await this.#steps(repository, turn, after);
    const conflicts = this.#options.force ? [] : await unexpected(repository.top, steps);
    return { steps, conflicts };
  }

  /** A text says why there is none. */
  #choose(): UndoableTurn | string {
    const { turn, redo } = this.#options;
    const { turns, undone } = undoableTurns(this.#record.notes);
    if (redo) return undone.at(-1) ?? 'No turn of this thread has been undone.';
    if (turns.length === 0) {
      return 'This thread has no turn that can be undone: snapshots are taken in git work trees, when the feature is on (features.undo = true), before a turn changes files.';
    }
    if (turn === undefined) {
      return turns.findLast(one => one.undone === null) ?? 'All turns of this thread that changed files are undone.';
    }
    const chosen = turns.find(one => one.turn === turn);
    if (chosen === undefined) {
      const known = turns.map(one => one.turn).join(', ');
      return `Turn ${turn} changed no files, or there is no snapshot of it. Turns that can be undone: ${known}.`;
    }
    return chosen.undone === null ? chosen : `Turn ${turn} is undone already.`;
  }

  async #open(turn: UndoableTurn): Promise<GitRepository | string> {
    const { runner, env } = this.#options;
    const signal = AbortSignal.timeout(LIMIT_MS);
    let repository: GitRepository | null;
    try {
      repository = await GitRepository.open(turn.root, { runner, env, signal });
    } catch (error) {
      return `${turn.root} can't be restored: ${messageOf(error)}.`;
    }
    if (repository?.top !== turn.root) return `${turn.root} is no longer a git work tree.`;
    const commits = [turn.before, turn.after, turn.undone].flatMap(commit => commit ?? []);
    const input = Buffer.from(`${commits.join('\n')}\n`);
    const found = (await repository.run(['cat-file', '--batch-check'], { input })).toString('latin1');
    if (found.includes(' missing')) {
      return `The snapshot of turn ${turn.turn} is no longer in ${turn.root}: only those of the last turns are kept.`;
    }
    return repository;
  }

  /** The work tree as it is; what an undo can be undone with. */
  async #present(repository: GitRepository, turn: UndoableTurn, ref: string): Promise<string> {
    const { commit } = await takeSnapshot({
      repository,
      ref,
      message: `before ${this.#options.redo ? 'redoing' : 'undoing'} turn ${turn.turn}`,
      temporary: temporaryFolder(this.#options.home),
      stored: new Map(),
    });
    return commit;
  }

  async #steps(repository: GitRepository, turn: UndoableTurn, after: string): Promise<Step[]> {
    const leftOut = new Set(turn.left_out);
    const changes = (await diffTrees(repository, turn.before, after)).filter(change => !leftOut.has(change.name));
    const before = await fileStates(repository, turn.before, sides(changes, 'before'));
    if (this.#options.redo && turn.undone !== null) {
      // What does not differ from the state before the turn is as it was then.
      const since = await diffTrees(repository, turn.before, turn.undone);
      const then = new Map([...sides(changes, 'before'), ...sides(since, 'after')]);
      const wanted = new Map(changes.map(({ name }) => [name, then.get(name) ?? null] as const));
      return stepsOf(changes, before, await fileStates(repository, turn.undone, wanted), 0);
    }
    const expected = await fileStates(repository, after, sides(changes, 'after'));
    return stepsOf(changes, expected, before, turn.began_at_ms);
  }

  #write(turn: UndoableTurn, present: string, files: readonly UndoneFile[]): void {
    const { redo = false, warn } = this.#options;
    const writer = openRollout(this.#record.append_point, { warn });
    const note: UndoNote = redo
      ? { kind: 'redone', turn_id: turn.turn_id }
      : { kind: 'undone', turn_id: turn.turn_id, commit: present };
    writer.append({ type: 'interpreter', payload: note });
    tellModel(writer, turn, files, redo);
    writer.close();
  }
}

type Plan = { readonly steps: readonly Step[]; readonly conflicts: readonly string[] };

/** What would be done, or why it is not. */
function reportOf(turn: UndoableTurn, { steps, conflicts }: Plan): UndoReport {
  if (conflicts.length > 0) {
    return refuse(`Files of turn ${turn.turn} have changed since; --force overwrites them.`, conflicts);
  }
  const files = steps.map(step => fileOf(step, null));
  return { type: 'done', turn: turn.turn, root: turn.root, files, dry_run: true };
}

/** Stands in the history before the next prompt. */
function tellModel(writer: RolloutWriter, turn: UndoableTurn, files: readonly UndoneFile[], redo: boolean): void {
  const done = files.filter(file => file.done !== 'left_alone');
  if (done.length === 0) return;
  const named = done.slice(0, MAX_NAMED).map(file => `- ${JSON.stringify(file.path)} (${file.done})`);
  if (done.length > MAX_NAMED) named.push(`- and ${done.length - MAX_NAMED} more`);
  const what = redo
    ? `The undoing of turn ${turn.turn} was taken back: the files that it had changed in ${turn.root} are again as that turn left them`
    : `Files in ${turn.root} were put back to what they were before turn ${turn.turn} of this thread`;
  const text = `<workspace_reverted>\n${what}:\n${named.join('\n')}\nThis was done on purpose, from outside this thread. Look at these files again before you rely on what you know about them.\n</workspace_reverted>`;
  const item: HistoryItem = message('developer', [text]);
  writer.append({ type: 'response_item', payload: item });
}

function sides(changes: readonly TreeChange[], side: 'before' | 'after') {
  return new Map(changes.map(change => [change.name, change[side]] as const));
}

type States = Awaited<ReturnType<typeof fileStates>>;

function stepsOf(changes: readonly TreeChange[], expected: States, wanted: States, since_ms: number): Step[] {
  return changes.map(({ name }) => ({
    name,
    expected: expected.get(name) ?? null,
    wanted: wanted.get(name) ?? null,
    since_ms,
  }));
}

async function unexpected(top: string, steps: readonly Step[]): Promise<string[]> {
  const names: string[] = [];
  for (const step of steps) {
    if (typeof step.wanted !== 'string' && !(await isAsExpected(top, step))) names.push(shownPath(step.name));
  }
  return names;
}

async function restore(top: string, steps: readonly Step[]): Promise<UndoneFile[]> {
  const reasons = new Map<GitPath, string | null>();
  const going = steps.filter(step => step.wanted === null);
  const coming = steps.filter(step => step.wanted !== null);
  for (const step of [...going, ...coming]) reasons.set(step.name, await restoreFile(top, step));
  return steps.map(step => fileOf(step, reasons.get(step.name) ?? null));
}

function fileOf(step: Step, reason: string | null): UndoneFile {
  const path = shownPath(step.name);
  const why = reason ?? (typeof step.wanted === 'string' ? step.wanted : null);
  if (why !== null) return { path, done: 'left_alone', reason: why };
  if (step.wanted === null) return { path, done: 'deleted' };
  return { path, done: step.expected === null ? 'created' : 'restored' };
}

function refuse(text: string, conflicts: readonly string[] = []): UndoReport {
  return { type: 'refused', message: text, conflicts };
}
