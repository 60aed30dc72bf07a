/**
 * Real pipes for children. What Node calls a pipe is a socket pair, and a socket can't be opened through `/dev/stdout`,
 * `/dev/stderr` or `/dev/stdin`, which scripts do all the time. So named pipes are made in advance, several at once by
 * one `mkfifo`; each is opened at both ends, unlinked and used once.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlink } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';

/** Our end as a stream, and the descriptor that the child gets. The caller closes the latter after the spawn. */
export type PipeEnds = { readonly ours: Socket; readonly theirs: number };

/** Few for a process that runs one command, many for one that goes on. */
const FIRST_BATCH = 6;
const MAX_BATCH = 64;

const run = promisify(execFile);

export class PipePool {
  readonly #directory: string;
  readonly #mkfifo: string;
  readonly #ready: string[] = [];
  #made = 0;
  #batch = FIRST_BATCH;
  #filling: Promise<void> | null = null;

  /** `directory` must exist and belong to us alone; `mkfifo` is the absolute path of the program. */
  constructor(directory: string, mkfifo: string) {
    this.#directory = directory;
    this.#mkfifo = mkfifo;
  }

  /** Names of `count` unused pipes. Throws when they can't be made. */
  async take(count: number): Promise<string[]> {
    while (this.#ready.length < count) await this.#fill();
    const taken = this.#ready.splice(0, count);
    if (this.#ready.length < FIRST_BATCH / 2)
      this.#fill().catch(() => {
        // The next `take` that runs out of pipes tries again and reports.
      });
    return taken;
  }

  /** Resolves when nothing is being made. Never rejects. */
  async settled(): Promise<void> {
    await this.#filling?.catch(() => {
      // Told to the command that needed them.
    });
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#make().finally(() => {
      this.#filling = null;
    });
    return this.#filling;
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: this.#batch }, () => `${this.#directory}/${this.#made++}`);
    this.#batch = Math.min(this.#batch * 2, MAX_BATCH);
    await run(this.#mkfifo, ['-m', '600', '--', ...paths]);
    this.#ready.push(...paths);
  }
}

/** The child writes, we read. */
export function openForReading(path: string): PipeEnds {
  const ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return complete(path, ours, () => ({
    theirs: openSync(path, constants.O_WRONLY),
    ours: () => new Socket({ fd: ours, readable: true, writable: false }),
  }));
}

/**
 * We write, the child reads. Its end blocks as programs expect: it is opened when ours makes that return at once.
 * Once ours is closed the child can read to the end, but a second opening (`/dev/stdin`) would wait for a writer:
 * input that is known in advance therefore comes from a file.
 */
export function openForWriting(path: string): PipeEnds {
  const first = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const ours = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    return complete(path, ours, () => ({
      theirs: openSync(path, constants.O_RDONLY),
      ours: () => new Socket({ fd: ours, readable: false, writable: true }),
    }));
  } finally {
    closeSync(first);
  }
}

function complete(path: string, fd: number, open: () => { theirs: number; ours: () => Socket }): PipeEnds {
  try {
    const ends = open();
    // Nobody waits for the name to go; one that stays goes with the folder.
    unlink(path, () => {});
    return { theirs: ends.theirs, ours: ends.ours() };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
