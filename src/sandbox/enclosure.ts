/** How a command is put into a sandbox: the contract between the runner and the platforms. */
import type { CommandResult, CommandSpec } from '../protocol/index.js';
import type { Child, ChildExit, Launch } from './child.js';
import type { Problem } from './enforcement.js';

export type Enclosed = {
  /** The whole command line; the first word is an absolute path. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inherit: Launch['inherit'];
  /** Called right after the start. */
  onStarted?(child: Child): void;
  /** Called with a line for the output of the command, e.g. about a refused connection. */
  onNote?(listener: (line: string) => void): void;
  /** Closes what was opened for the start; called once, after it. */
  closeDescriptors(): void;
  /** What became of the command; `head` is the beginning of what it and the sandbox wrote to stderr. */
  resultOf(exit: ChildExit, head: string): Promise<CommandResult>;
  /** Called once the command has ended. Never throws. */
  release(): Promise<void>;
};

export type EncloseRequest = {
  readonly spec: CommandSpec;
  /** The absolute path of the first word. */
  readonly program: string;
  /** `own`: a new terminal; `shared`: ours; `none`: the command has no terminal to control. */
  readonly terminal: 'none' | 'own' | 'shared';
};

export interface Enclosure {
  /** Throws only when we are wrong. */
  enclose(request: EncloseRequest): Promise<Enclosed | Problem>;
  /** Ends what was started for commands (proxies). */
  close(): Promise<void>;
}

export function isProblem(value: object): value is Problem {
  return 'cause' in value;
}
