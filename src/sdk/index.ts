/**
 * Front door 2: the library. Threads and turns of the agent in other programs, by running `interpreter exec`; the classes,
 * options and events are those of the Codex SDK, so that changing the import is enough.
 * It must never do anything when it is imported, never print, and never leave a process behind.
 */
export type { ApprovalDecision, ApprovalRequest, FileChange, ParsedCommand, ThreadSummary } from '../protocol/index.js';
export {
  AbortError,
  ApprovalCallbackError,
  ExecError,
  InterpreterError,
  OutputSchemaError,
  ProgramNotStartedError,
  TurnFailedError,
} from './errors.js';
export type * from './events.js';
export { Interpreter, Interpreter as Codex, type ListOptions } from './interpreter.js';
export type * from './options.js';
export type { InterpreterOptions as CodexOptions } from './options.js';
export type { StandardSchema } from './output-schema.js';
export {
  type StreamedTurn,
  type StreamedTurn as RunStreamedResult,
  Thread,
  type Turn,
  type Turn as RunResult,
  type TurnOf,
} from './thread.js';
