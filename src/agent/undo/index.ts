/**
 * Undo: snapshots of the workspace around each turn, and putting files back. Uses git only as a store; never touches
 * branches, the index or the stash, and never writes through a link.
 */
export { createUndoRecorder, type TurnUndo, type UndoRecorder } from './turn-undo.js';
export type { UndoNote } from './undo-notes.js';
export { type UndoneFile, type UndoOptions, type UndoReport, undoThread } from './undo-thread.js';
