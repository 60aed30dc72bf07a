/** What was opened for one start of a command, and the numbers its descriptors will have in the program. */
import { closeSync } from 'node:fs';
import { FIRST_FD } from './child.js';

export class Opened {
  readonly #fds: number[] = [];
  readonly #releases: (() => void | Promise<void>)[] = [];
  #closed = false;

  /** Ours, in the order in which the program gets them. */
  get descriptors(): readonly number[] {
    return this.#fds;
  }

  /** Takes over a descriptor; returns its number in the program. */
  add(fd: number): number {
    this.#fds.push(fd);
    return FIRST_FD + this.#fds.length - 1;
  }

  /** Something else to be undone when the command has ended, or was not started. */
  onRelease(release: () => void | Promise<void>): void {
    this.#releases.push(release);
  }

  closeDescriptors(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const fd of this.#fds) closeSync(fd);
  }

  async release(): Promise<void> {
    this.closeDescriptors();
    for (const release of this.#releases.splice(0)) await release();
  }
}
