/** A started program behind pipes or a pseudo terminal: what `RunningCommand` is built on. */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';

/** The first number of a descriptor that a program can be given besides the standard ones. */
export const FIRST_FD = 3;

/** What is needed to start a program; the sandbox has already been put into `argv`. */
export type Launch = {
  /** `argv[0]` is an absolute path. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A number is a descriptor of ours, opened for reading. */
  readonly stdin: 'closed' | 'pipe' | number;
  readonly mergeOutput: boolean;
  readonly tty: { readonly cols: number; readonly rows: number } | null;
  /** Descriptors of ours that become 3, 4, ... of the program; `report`: a pipe that it writes to and we read. */
  readonly inherit: readonly (number | 'report')[];
};

export type OutputListener = (chunk: Buffer, stream: 'stdout' | 'stderr') => void;

export type ChildExit = { readonly code: number | null; readonly signal: string | null };

export interface Child {
  readonly pid: number;
  /** Our end of the `report` pipe. */
  readonly report: Readable | null;
  /** Resolves when the program itself has ended; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Starts the flow of output; only the first call counts. */
  read(listener: OutputListener): void;
  /** After `exited`: resolves when what the program had written was delivered. Does not wait for its descendants. */
  drained(): Promise<void>;
  write(data: string | Buffer): Promise<void>;
  closeStdin(): void;
  /** Closes our ends; later output of descendants is lost. */
  release(): void;
}

/** The shell's way to put an end by a signal into one number. */
export function exitCodeOf(exit: ChildExit): number {
  if (exit.code !== null) return exit.code;
  const number = exit.signal === null ? undefined : signalNumbers.get(exit.signal);
  return 128 + (number ?? 0);
}

/** `inherit` for `spawn`, and the report pipe among the streams that it made. */
export function stdioOf(inherit: Launch['inherit']): (number | 'pipe')[] {
  return inherit.map(entry => (entry === 'report' ? 'pipe' : entry));
}

export function reportOf(child: ChildProcess, inherit: Launch['inherit']): Readable | null {
  const stream = child.stdio[FIRST_FD + inherit.indexOf('report')];
  return inherit.includes('report') && stream && 'read' in stream ? stream : null;
}

export function signalName(number: number): string | null {
  for (const [name, value] of signalNumbers) if (value === number) return name;
  return null;
}

const signalNumbers: ReadonlyMap<string, number> = new Map(Object.entries(constants.signals));
