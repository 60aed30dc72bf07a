/** One running command as the other rooms see it: a started program plus the way to end its whole tree. */
import type { CommandResult, RunningCommand } from '../protocol/index.js';
import type { Child, ChildExit, OutputListener } from './child.js';
import { endTree } from './end-tree.js';
import { noteEnd, type ProcessTree } from './process-tree.js';

/** Long enough for a program to put its files in order, short enough for a caller who waits for the end. */
const GRACE_MS = 400;
/** Of stderr, for the words of a sandbox that could not be set up. */
const HEAD_BYTES = 4096;

export type RunningOptions = {
  readonly child: Child;
  readonly tree: ProcessTree;
  /** What the end means; `head` is the beginning of stderr, or of the output where both are one. */
  readonly resultOf: (exit: ChildExit, head: string) => Promise<CommandResult>;
  /** Runs once when the command has ended; true means that descendants of it go on. */
  readonly onEnd: (lingering: boolean) => void;
};

export class ManagedCommand implements RunningCommand {
  readonly #child: Child;
  readonly #options: RunningOptions;
  readonly #ended: Promise<CommandResult>;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #listener: OutputListener | null = null;
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
    setImmediate(() => this.#read());
    return this.#ended;
  }

  onOutput(listener: OutputListener): void {
    this.#listener ??= listener;
    this.#read();
  }

  /** Adds a line to the output, as if the command had written it to stderr. */
  addNote(line: string): void {
    this.#listener?.(Buffer.from(`${line}\n`), 'stderr');
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
      this.#killing = null;
      if (this.#hasEnded) this.#child.release();
    });
  }

  #read(): void {
    this.#child.read((chunk, stream) => {
      if (this.#headBytes < HEAD_BYTES) this.#keepHead(chunk);
      this.#listener?.(chunk, stream);
    });
  }

  #keepHead(chunk: Buffer): void {
    this.#head.push(chunk.subarray(0, HEAD_BYTES - this.#headBytes));
    this.#headBytes += chunk.length;
  }

  async #waitForEnd(): Promise<CommandResult> {
    const exit = await this.#child.exited;
    // Bubblewrap that is killed while it starts takes nothing with it: its child does not follow it into death yet.
    if (this.#options.tree.isSandbox && exit.signal !== null) await endTree(this.#options.tree, 0);
    const lingering = noteEnd(this.#options.tree);
    this.#read();
    await this.#child.drained();
    if (this.#reason !== null) await this.#killing;
    this.#hasEnded = true;
    const result: CommandResult =
      this.#reason === null
        ? await this.#options.resultOf(exit, Buffer.concat(this.#head).toString())
        : { type: this.#reason };
    this.#options.onEnd(lingering && this.#reason === null);
    return result;
  }
}
