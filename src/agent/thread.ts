/** What the front doors see of the agent: threads that run turns. */
import type { Config } from '../config/index.js';
import type {
  Approver,
  EventSink,
  FileChange,
  JsonSchema,
  ThreadSettings,
  TokenUsage,
  TurnError,
  UserInput,
} from '../protocol/index.js';
import type { TraceContext } from '../util/index.js';

export type RunOptions = {
  readonly input: readonly UserInput[];
  readonly approver: Approver;
  /** Fires = interrupt: commands are killed, the model stream is closed, the turn ends as aborted. */
  readonly signal: AbortSignal;
  /** Receives `thread.started` (first turn in this process) and everything of this turn. */
  readonly onEvent: EventSink;
  readonly output_schema?: JsonSchema;
  /** Trace context of the caller. */
  readonly trace?: TraceContext;
};

export type TurnResult = {
  readonly thread_id: string;
  readonly turn_id: string;
  readonly status: 'completed' | 'failed' | 'aborted';
  /** The last assistant message of the turn; "" when there was none. */
  readonly content: string;
  readonly error: TurnError | null;
  /** Totals of the thread. */
  readonly usage: TokenUsage;
  /** Files changed by patches of this turn, keyed by absolute path. */
  readonly changes: Readonly<Record<string, FileChange>>;
  /** Why it was aborted: the caller's signal, or a decision `abort`. */
  readonly aborted_by: 'signal' | 'decision' | null;
};

/** A conversation that is kept. Turns of one thread run one after the other, in the order of `run` calls. */
export interface Thread {
  readonly id: string;
  readonly settings: ThreadSettings;
  /** Waits behind earlier turns of this thread, then runs one. Rejects only when we are wrong. */
  run(options: RunOptions): Promise<TurnResult>;
}

/** Thrown for a thread id that can't be continued; the message is for the caller. */
export class ThreadUnavailableError extends Error {
  readonly reason: 'not_found' | 'unreadable';
  constructor(reason: 'not_found' | 'unreadable', message: string) {
    super(message);
    this.name = 'ThreadUnavailableError';
    this.reason = reason;
  }
}

/** All threads of this process. */
export interface ThreadManager {
  /**
   * Makes a thread; nothing is written before its first turn. `source` is `mcp` or `exec`. With `forkOf`, the id of a
   * thread on disk, the new one goes on with a copy of its history, totals and grants, and is written at once.
   * Throws ThreadUnavailableError when there is nothing to copy.
   */
  startThread(config: Config, source: string, forkOf?: string): Promise<Thread>;
  /**
   * The thread with this id, from memory or from its rollout. It goes on with its own settings, or, when it was not in
   * memory, with `config`; instructions that `config` does not have stay those of the thread. Throws
   * ThreadUnavailableError.
   */
  getThread(id: string, config?: Config): Promise<Thread>;
  /** Interrupts all turns, ends all commands and inner servers, flushes rollouts. At most about a second. */
  close(): Promise<void>;
}
