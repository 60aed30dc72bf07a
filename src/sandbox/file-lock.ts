/** A lock between processes: a file name that only one of them can make. What a dead process left is taken over. */
import { linkSync, readFileSync, renameSync, unlinkSync } from 'node:fs';
import { delay, hasCode } from '../util/index.js';
import { isDeadServer } from './server-directory.js';

const TIMEOUT_MS = 5000;

export class FileLock {
  readonly #path: string;
  readonly #ownerFile: string;

  /** `ownerFile` holds the name of this process; the lock becomes a link to it, so it is never there unsigned. */
  constructor(path: string, ownerFile: string) {
    this.#path = path;
    this.#ownerFile = ownerFile;
  }

  /** Runs `work` alone, in this process too. Throws when the lock can't be had within five seconds. */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const end = performance.now() + TIMEOUT_MS;
    for (let step = 1; !this.#take(); step = Math.min(step * 2, 20)) {
      if (performance.now() > end) throw new Error(`${this.#path} has been locked by another process for five seconds`);
      await delay(step);
    }
    try {
      return await work();
    } finally {
      unlinkSync(this.#path);
    }
  }

  #take(): boolean {
    try {
      linkSync(this.#ownerFile, this.#path);
      return true;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const owner = readText(this.#path);
    if (owner !== null && isDeadServer(owner)) this.#breakLock(owner);
    return false;
  }

  /** Moves the dead owner's file away. Should it meanwhile be somebody else's, it is put back. */
  #breakLock(owner: string): void {
    const aside = `${this.#ownerFile}.broken-lock`;
    try {
      renameSync(this.#path, aside);
      if (readText(aside) !== owner) linkSync(aside, this.#path);
      unlinkSync(aside);
    } catch {
      // Another process was faster: the next attempt sees how things are.
    }
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Released meanwhile.
    return null;
  }
}
