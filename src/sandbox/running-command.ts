/** One running command as the other rooms see it: a started program plus the way to end its whole tree. */
import type { CommandResult, RunningCommand } from '../protocol/index.js';
import { type Child, type ChildExit, exitCodeOf, type OutputListener, signalName } from './child.js';
import { endTree } from './end-tree.js';
import { noteEnd, type ProcessTree } from './process-tree.js';

/** Long enough for a program to put its files in order, short enough for a caller who waits for the end. */
const GRACE_MS = 400;

export type RunningOptions = {
  readonly child: Child;
  readonly tree: ProcessTree;
  /** Exit codes above 128 tell of a signal: the sandbox program reports the death of the command in this way. */
  readonly signalsAsCodes: boolean;
  /** Runs once when the command has ended; true means that descendants of it go on. */
  readonly onEnd: (lingering: boolean) => void;
};

export class ManagedCommand implements RunningCommand {
  readonly #child: Child;
  readonly #options: RunningOptions;
  readonly #ended: Promise<CommandResult>;
  #reason: 'timed_out' | 'aborted' | null = null;
  #hasEnded = false;
  #killing: Promise<void> | null = null;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.#child = options.child;
    this.#ended = this.#waitForEnd();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get ended(): Promise<CommandResult> {
    // An owner that only waits must not be blocked by a full pipe; one that listens does so in the same tick.
    setImmediate(() => this.#child.read(null));
    return this.#ended;
  }

  onOutput(listener: OutputListener): void {
    this.#child.read(listener);
  }

  write(data: string | Buffer): Promise<void> {
    return this.#child.write(data);
  }

  closeStdin(): void {
    this.#child.closeStdin();
  }

  kill(reason: 'timed_out' | 'aborted', graceMs: number = GRACE_MS): void {
    if (!this.#hasEnded) this.#reason ??= reason;
    this.#killing ??= endTree(this.#options.tree, graceMs).finally(() => {
      // Later calls look again: a descendant may have been started meanwhile.
      if (this.#hasEnded) this.#child.release();
      this.#killing = null;
    });
  }

  async #waitForEnd(): Promise<CommandResult> {
    const exit = await this.#child.exited;
    const lingering = noteEnd(this.#options.tree);
    this.#child.read(null);
    await this.#child.drained();
    if (this.#reason !== null) await this.#killing;
    this.#hasEnded = true;
    this.#options.onEnd(lingering && this.#reason === null);
    return this.#reason === null ? this.#resultOf(exit) : { type: this.#reason };
  }

  #resultOf(exit: ChildExit): CommandResult {
    const exit_code = exitCodeOf(exit);
    const signal =
      exit.signal ?? (this.#options.signalsAsCodes && exit_code > 128 ? signalName(exit_code - 128) : null);
    return { type: 'exited', exit_code, signal };
  }
}
