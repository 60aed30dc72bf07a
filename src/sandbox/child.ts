/** A started program behind pipes or a pseudo terminal: what `RunningCommand` is built on. */
import { constants } from 'node:os';

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
  /** File descriptors of ours that become 3, 4, ... of the program. */
  readonly inherit: readonly number[];
};

export type OutputListener = (chunk: Buffer, stream: 'stdout' | 'stderr') => void;

export type ChildExit = { readonly code: number | null; readonly signal: string | null };

export interface Child {
  readonly pid: number;
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

export function signalName(number: number): string | null {
  for (const [name, value] of signalNumbers) if (value === number) return name;
  return null;
}

const signalNumbers: ReadonlyMap<string, number> = new Map(Object.entries(constants.signals));
