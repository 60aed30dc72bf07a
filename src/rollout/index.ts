/**
 * The append-only JSONL record of a thread: one file per thread, written while it runs, read back for a resume, in the
 * form that codex 0.148 reads and writes. Also where these files are, and the lock that keeps a thread to one process.
 * Must never: lose a line that was flushed, change a line that was written, fail a turn because of the disk, or
 * decide what a thread does next.
 */
export { isPrompt } from './contextual.js';
export type { InterpreterLine, Json, JsonObject, RolloutLine, SessionMeta, TurnSettings } from './lines.js';
export { deleteRollout, moveRollout } from './move-rollout.js';
export {
  readRollout,
  readTranscript,
  type ThreadRecord,
  type TranscriptEntry,
  UnreadableRolloutError,
} from './read-rollout.js';
export { LOST_OUTPUT, repairHistory } from './repair-history.js';
export { summarizeRollout } from './summary.js';
export { findRollout, isThreadId, listRollouts, type RolloutFile, rolloutPath } from './thread-files.js';
export { acquireThreadLock, heldThreads, type LockResult, type ThreadLock } from './thread-lock.js';
export { readRolloutText } from './unpack.js';
export { type AppendPoint, createRollout, openRollout, type RolloutWriter } from './writer.js';
