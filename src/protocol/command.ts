/** Running one command: what is asked for, what came of it. */
import type { SandboxPolicy } from './policy.js';

export type CommandSpec = {
  readonly argv: readonly string[];
  /** Absolute; must exist. */
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly policy: SandboxPolicy;
  /**
   * The thread's working directory: the root that `workspace-write` opens besides the roots of the policy. Not the
   * same as `cwd`, which a model may choose. Absent: no root of this kind.
   */
  readonly workspace?: string;
  /** With a pseudo terminal; output is then merged and has `\r\n`. */
  readonly tty?: { readonly cols: number; readonly rows: number };
  /** `closed`: reads give end-of-file at once; `bytes`: these, then end-of-file. Default `closed` without a tty. */
  readonly stdin?: 'closed' | 'pipe' | { readonly bytes: string | Buffer };
  /** Without a tty: stdout and stderr share one pipe, so that their order is exact; chunks are then called `stdout`. */
  readonly merge_output?: boolean;
};

/** One cause, not a row of booleans. */
export type CommandResult =
  /** `signal` is set when a signal ended it; `exit_code` is then 128 + its number, as in a shell. */
  | { type: 'exited'; exit_code: number; signal: string | null }
  | { type: 'timed_out' }
  | { type: 'aborted' }
  /** Nothing ran. `message` says what happened and what to do. */
  | { type: 'not_started'; reason: 'sandbox' | 'missing' | 'spawn'; message: string };

/** A running command. Its owner must await `ended` or call `kill`. */
export interface RunningCommand {
  readonly pid: number;
  /** Bytes as they came, stdout and stderr in the order of arrival. At most one listener. */
  onOutput(listener: (chunk: Buffer, stream: 'stdout' | 'stderr') => void): void;
  /** Resolves when the bytes are with the kernel; rejects when the command no longer reads. */
  write(data: string | Buffer): Promise<void>;
  closeStdin(): void;
  /** Ends the whole process tree: TERM, and KILL after a grace period. Idempotent. */
  kill(reason: 'timed_out' | 'aborted', graceMs?: number): void;
  /** Resolves when the command itself has ended and its output was delivered; never rejects. */
  readonly ended: Promise<CommandResult>;
}

/** Starts commands. The only door to child processes below the front doors. */
export interface CommandRunner {
  start(spec: CommandSpec): Promise<RunningCommand | (CommandResult & { type: 'not_started' })>;
}
