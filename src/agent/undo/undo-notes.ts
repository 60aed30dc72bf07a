/** What a rollout keeps about snapshots: lines of our own, read back in order. */
import type { InterpreterLine, Json } from '../../rollout/index.js';

/**
 * `undo_before`: taken before the first change of a turn. `undo_after`: taken at its end; null = it changed nothing.
 * `undone`: the turn was undone; `commit` is the work tree as it was just before. `redone`: and that was taken back.
 */
export type UndoNote =
  | {
      kind: 'undo_before';
      turn_id: string;
      /** Number of the turn in its thread, from 1. */
      turn: number;
      /** Absolute path of the work tree. */
      root: string;
      commit: string;
      left_out: string[];
      /** When it was begun; what stands there since before is no work of the turn. */
      at_ms: number;
    }
  | { kind: 'undo_after'; turn_id: string; commit: string | null; left_out: string[] }
  | { kind: 'undone'; turn_id: string; commit: string }
  | { kind: 'redone'; turn_id: string };

/** A turn that can be undone, or was. */
export type UndoableTurn = {
  readonly turn_id: string;
  readonly turn: number;
  readonly root: string;
  readonly before: string;
  /** Null: the turn has no recorded end. */
  readonly after: string | null;
  readonly left_out: readonly string[];
  readonly began_at_ms: number;
  /** The work tree just before it was undone; null = it was not, or that was taken back. */
  readonly undone: string | null;
};

/** The turns that changed files, in their order; the one that was undone last stands last in `undone`. */
export function undoableTurns(notes: readonly InterpreterLine[]): { turns: UndoableTurn[]; undone: UndoableTurn[] } {
  const turns = new Map<string, UndoableTurn>();
  const order: string[] = [];
  for (const note of notes.map(readNote)) {
    const known = note && turns.get(note.turn_id);
    switch (note?.kind) {
      case undefined:
        break;
      case 'undo_before': {
        const { turn_id, turn, root, commit, left_out, at_ms } = note;
        const began = { turn_id, turn, root, before: commit, left_out, began_at_ms: at_ms };
        turns.set(turn_id, { ...began, after: null, undone: null });
        break;
      }
      case 'undo_after':
        if (known && note.commit === null) turns.delete(known.turn_id);
        else if (known) {
          turns.set(known.turn_id, { ...known, after: note.commit, left_out: [...known.left_out, ...note.left_out] });
        }
        break;
      case 'undone':
        if (known) turns.set(known.turn_id, { ...known, undone: note.commit });
        order.push(note.turn_id);
        break;
      case 'redone':
        if (known) turns.set(known.turn_id, { ...known, undone: null });
        order.splice(order.lastIndexOf(note.turn_id), 1);
        break;
    }
  }
  return { turns: [...turns.values()], undone: order.flatMap(id => turns.get(id) ?? []) };
}

function readNote(line: InterpreterLine): UndoNote | null {
  const turnId = line['turn_id'];
  const commit = line['commit'];
  if (typeof turnId !== 'string') return null;
  const left_out = texts(line['left_out']);
  switch (line.kind) {
    case 'undo_before': {
      const { turn, root, at_ms } = line;
      if (typeof turn !== 'number' || typeof root !== 'string' || typeof at_ms !== 'number') return null;
      return isCommit(commit) ? { kind: 'undo_before', turn_id: turnId, turn, root, commit, left_out, at_ms } : null;
    }
    case 'undo_after':
      if (commit !== null && !isCommit(commit)) return null;
      return { kind: 'undo_after', turn_id: turnId, commit, left_out };
    case 'undone':
      return isCommit(commit) ? { kind: 'undone', turn_id: turnId, commit } : null;
    case 'redone':
      return { kind: 'redone', turn_id: turnId };
    default:
      return null;
  }
}

function isCommit(value: Json | undefined): value is string {
  return typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
