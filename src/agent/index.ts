/**
 * The agent: threads and turns, the path of a tool call, context, history and compaction. Front doors start threads and
 * listen to events. It never talks to a client, never reads the command line and never prints.
 */
export type { AgentDeps } from './deps.js';
export { chooseProfile, type Profile, prepareTools } from './profiles/index.js';
export {
  type RunOptions,
  type Thread,
  type ThreadManager,
  ThreadUnavailableError,
  type TurnResult,
} from './thread.js';
export { createThreadManager } from './thread-manager.js';
export { type UndoneFile, type UndoOptions, type UndoReport, undoThread } from './undo/index.js';
