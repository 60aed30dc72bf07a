/** Snapshots of a thread's turns: before the first thing that may change files, and at the end. Feature `undo`. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/index.js';
import type { Action, CommandRunner, SandboxPolicy } from '../../protocol/index.js';
import { writableRoots } from '../../sandbox/index.js';
import { type Env, messageOf } from '../../util/index.js';
import type { AgentDeps } from '../deps.js';
import { GitRepository } from './git.js';
import { type Snapshot, type StoredFiles, takeSnapshot } from './snapshot.js';
import { diffTrees } from './tree-diff.js';
import type { UndoNote } from './undo-notes.js';
import { deleteOldRefs, deleteRefs, undoRef } from './undo-refs.js';

export type UndoRecorderOptions = {
  readonly threadId: string;
  readonly cwd: string;
  /** The agent's home. */
  readonly home: string;
  readonly runner: CommandRunner;
  readonly env: Env;
  readonly note: (note: UndoNote) => void;
};

/** For one snapshot, and for that at the end of an interrupted turn: there somebody waits for the process to end. */
const LIMIT_MS = 15_000;
const INTERRUPTED_LIMIT_MS = 1_000;

/** Null when nothing is kept: the feature is off, or the thread has no rollout. */
export function createUndoRecorder(
  { id, config, deps }: { readonly id: string; readonly config: Config; readonly deps: AgentDeps },
  note: UndoRecorderOptions['note'],
): UndoRecorder | null {
  if (!config.features.undo || !config.persist) return null;
  const { sandbox: runner, env } = deps;
  return new UndoRecorder({ threadId: id, cwd: config.cwd, home: config.home, runner, env, note });
}

export class UndoRecorder {
  readonly #options: UndoRecorderOptions;
  readonly #stored: StoredFiles = new Map();
  readonly #told = new Set<string>();
  #tidied = false;

  constructor(options: UndoRecorderOptions) {
    this.#options = options;
  }

  forTurn(turn: UndoTurn): TurnUndo {
    return new TurnUndo(this, turn);
  }

  get options(): UndoRecorderOptions {
    return this.#options;
  }

  /** Null when `cwd` is in no git work tree. Throws GitError. */
  open(signal: AbortSignal): Promise<GitRepository | null> {
    const { cwd, runner, env } = this.#options;
    return GitRepository.open(cwd, { runner, env, signal });
  }

  /** Throws GitError. */
  async take(repository: GitRepository, ref: string, message: string): Promise<Snapshot> {
    const options = { repository, ref, message, temporary: temporaryFolder(this.#options.home), stored: this.#stored };
    try {
      return await takeSnapshot(options);
    } catch (error) {
      if (this.#stored.size === 0 || repository.signal.aborted) throw error;
      // An object we relied on may have been removed from the repository.
      this.#stored.clear();
      return takeSnapshot(options);
    }
  }

  async tidy(repository: GitRepository): Promise<void> {
    if (this.#tidied) return;
    this.#tidied = true;
    await deleteOldRefs(repository);
  }

  /** Says why there is no snapshot, once for each reason. */
  explain(error: unknown, warn: (message: string) => void): void {
    const message = `This turn can't be undone later: no snapshot of ${this.#options.cwd} was taken: ${messageOf(error)}.`;
    if (!this.#told.has(message)) warn(message);
    this.#told.add(message);
  }
}

/** Temporary files of ours stand where no sandboxed command can write. */
export function temporaryFolder(home: string): string {
  const folder = path.join(home, 'state');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function mayWrite(action: Action, policy: SandboxPolicy): boolean {
  switch (action.type) {
    case 'none':
      return false;
    case 'command':
      return writableRoots(policy, { cwd: '/', tmpdir: null }).length > 0;
    case 'patch':
      return true;
    case 'mcp_tool':
      return !action.read_only;
  }
}

export type UndoTurn = {
  readonly turnId: string;
  /** Of the turn in its thread, from 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
};

type Begun = { readonly repository: GitRepository; readonly before: Snapshot; readonly ref: string };

export class TurnUndo {
  readonly #recorder: UndoRecorder;
  readonly #turn: UndoTurn;
  #begun: Promise<Begun | null> | null = null;

  constructor(recorder: UndoRecorder, turn: UndoTurn) {
    this.#recorder = recorder;
    this.#turn = turn;
  }

  /** Before an action runs; the first of the turn that may change files waits for the snapshot. Never rejects. */
  async before(action: Action, policy: SandboxPolicy): Promise<void> {
    if (!mayWrite(action, policy)) return;
    this.#begun ??= this.#begin();
    await this.#begun;
  }

  /** When the turn has ended, however it did. Never rejects. */
  async end(): Promise<void> {
    const begun = await this.#begun;
    if (begun === null) return;
    const { turnId, number, signal, warn } = this.#turn;
    const recorder = this.#recorder;
    const limit = AbortSignal.timeout(signal.aborted ? INTERRUPTED_LIMIT_MS : LIMIT_MS);
    const repository = begun.repository.with(limit);
    const ref = undoRef(recorder.options.threadId, turnId, 'after');
    try {
      const after = await recorder.take(repository, ref, `after turn ${number}`);
      const changes = await diffTrees(repository, begun.before.commit, after.commit);
      recorder.options.note({
        kind: 'undo_after',
        turn_id: turnId,
        commit: changes.length === 0 ? null : after.commit,
        left_out: [...after.left_out],
      });
      if (changes.length === 0) await deleteRefs(repository, [begun.ref, ref]);
      await recorder.tidy(repository);
    } catch (error) {
      recorder.explain(error, warn);
    }
  }

  async #begin(): Promise<Begun | null> {
    const { turnId, number, signal, warn } = this.#turn;
    const recorder = this.#recorder;
    const ref = undoRef(recorder.options.threadId, turnId, 'before');
    const at_ms = Date.now();
    try {
      const repository = await recorder.open(AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]));
      if (repository === null) return null;
      const before = await recorder.take(repository, ref, `before turn ${number}`);
      recorder.options.note({
        kind: 'undo_before',
        turn_id: turnId,
        turn: number,
        root: repository.top,
        commit: before.commit,
        left_out: [...before.left_out],
        at_ms,
      });
      return { repository, before, ref };
    } catch (error) {
      if (!signal.aborted) recorder.explain(error, warn);
      return null;
    }
  }
}
