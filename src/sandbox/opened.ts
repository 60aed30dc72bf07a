/** What was opened for one start of a command, and the numbers its descriptors will have in the program. */
import { closeSync } from 'node:fs';
import { FIRST_FD } from './child.js';

export class Opened {
  readonly #inherit: (number | 'report')[] = [];
  readonly #releases: (() => void | Promise<void>)[] = [];
  #closed = false;

  /** Ours, in the order in which the program gets them. */
  get inherit(): readonly (number | 'report')[] {
    return this.#inherit;
  }

  /** Takes over a descriptor; returns its number in the program. */
  add(fd: number): number {
    this.#inherit.push(fd);
    return FIRST_FD + this.#inherit.length - 1;
  }

  /** Makes room for a pipe that the program writes to; returns its number there. */
  addReport(): number {
    this.#inherit.push('report');
    return FIRST_FD + this.#inherit.length - 1;
  }

  /** Something else to be undone when the command has ended, or was not started. */
  onRelease(release: () => void | Promise<void>): void {
    this.#releases.push(release);
  }

  closeDescriptors(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const fd of this.#inherit) if (fd !== 'report') closeSync(fd);
  }

  async release(): Promise<void> {
    this.closeDescriptors();
    for (const release of this.#releases.splice(0)) await release();
  }
}
