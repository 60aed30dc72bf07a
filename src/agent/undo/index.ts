/**
 * Undo: snapshots of the workspace around each turn, and putting files back. Uses git only as a store; never touches
 * branches, the index or the stash, and never writes through a link.
 */
import type { UndoOptions, UndoReport } from './undo-thread.js';

export { createUndoRecorder, type TurnUndo, type UndoRecorder } from './turn-undo.js';

/** Loaded when it is wanted: only the command line undoes. Throws ThreadUnavailableError for an unknown thread. */
export const undoThread = async (options: UndoOptions): Promise<UndoReport> =>
  (await import('./undo-thread.js')).undoThread(options);

export type { UndoneFile, UndoOptions, UndoReport } from './undo-thread.js';
