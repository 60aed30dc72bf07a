/** What can go wrong, as classes. */

/** The base of all errors of this library. */
export class InterpreterError extends Error {
  override name = 'InterpreterError';
}

/** The program could not be started; `cause` is the error of the system. */
export class ProgramNotStartedError extends InterpreterError {
  override name = 'ProgramNotStartedError';
}

/** The program ended without a turn that failed: a wrong option, a faulty configuration, a kill. */
export class ExecError extends InterpreterError {
  override name = 'ExecError';
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** What it printed on standard error, at most the last 64 KiB. */
  readonly stderr: string;

  constructor(end: { exitCode: number | null; signal: string | null; stderr: string }) {
    const how = end.signal === null ? `code ${end.exitCode ?? 'unknown'}` : `signal ${end.signal}`;
    super(`interpreter exited with ${how}: ${end.stderr.trim()}`);
    this.exitCode = end.exitCode;
    this.signal = end.signal;
    this.stderr = end.stderr;
  }
}

/** The turn failed; the message says why. The thread can go on. */
export class TurnFailedError extends InterpreterError {
  override name = 'TurnFailedError';
  /** Null when the turn failed before its thread had an id. */
  readonly threadId: string | null;

  constructor(message: string, threadId: string | null) {
    super(message);
    this.threadId = threadId;
  }
}

/** The signal of the caller fired; `cause` is its reason. */
export class AbortError extends InterpreterError {
  override name = 'AbortError';
  readonly code = 'ABORT_ERR';

  constructor(reason: unknown) {
    super('The operation was aborted', { cause: reason });
  }
}

/** The answer is not what the output schema asks for, or the schema can't be used. */
export class OutputSchemaError extends InterpreterError {
  override name = 'OutputSchemaError';
}

/** The callback for approvals threw; `cause` is what it threw. The turn was ended. */
export class ApprovalCallbackError extends InterpreterError {
  override name = 'ApprovalCallbackError';
}
