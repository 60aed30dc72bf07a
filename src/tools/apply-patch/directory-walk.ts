/**
 * Holds directories open so that what is written in them can't be redirected. A path is checked by its name, but a
 * command that runs at the same time may swap one of its directories for a link between the check and the write. So the
 * walk goes from `/` down, one directory at a time, never through a link, and everything happens below the descriptor of
 * the last one (`/proc/self/fd/N/name`): it stays that directory, whatever becomes of the path.
 */
import { closeSync, constants, existsSync, mkdirSync, openSync, realpathSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from '../../util/index.js';
import { PatchRefusal } from './refusal.js';

/** Open by name alone: no right to list the directory is needed. Missing in Node's constants; the same on our platforms. */
const O_PATH = 0x200000;

export interface DirectoryWalk {
  /**
   * The directory with this real path as a prefix for system calls, made (with its parents) where it is missing.
   * Throws PatchRefusal when the way there is not what it was, and system errors.
   */
  open(directory: string): string;
  /** Throws PatchRefusal when an opened directory is no longer where it was; always holds where descriptors are used. */
  recheck(): void;
  /** Removes the directories that were made, where they are empty. */
  removeMade(): void;
  close(): void;
}

export function openDirectoryWalk(): DirectoryWalk {
  return process.platform === 'linux' && existsSync('/proc/self/fd') ? new DescriptorWalk() : new PathWalk();
}

class DescriptorWalk implements DirectoryWalk {
  readonly #descriptors = new Map<string, number>();
  readonly #made: string[] = [];

  open(directory: string): string {
    return prefix(this.#descriptor(directory));
  }

  recheck(): void {}

  removeMade(): void {
    for (const made of this.#made.toReversed()) removeEmpty(made);
  }

  close(): void {
    for (const fd of this.#descriptors.values()) closeSync(fd);
    this.#descriptors.clear();
  }

  #descriptor(directory: string): number {
    const known = this.#descriptors.get(directory);
    if (known !== undefined) return known;
    const parent = path.dirname(directory);
    const place = parent === directory ? directory : `${prefix(this.#descriptor(parent))}/${path.basename(directory)}`;
    const fd = this.#openOrMake(place, directory);
    this.#descriptors.set(directory, fd);
    return fd;
  }

  #openOrMake(place: string, directory: string): number {
    try {
      return openDirectory(place, directory);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    try {
      mkdirSync(place);
      this.#made.push(place);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    return openDirectory(place, directory);
  }
}

const prefix = (fd: number) => `/proc/self/fd/${fd}`;

function openDirectory(place: string, directory: string): number {
  try {
    return openSync(place, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR', 'ELOOP')) throw error;
    throw new PatchRefusal(`${directory} was a directory and has meanwhile been replaced`, { cause: error });
  }
}

/** Where directories can't be held: their real path is compared before and after. */
class PathWalk implements DirectoryWalk {
  readonly #opened = new Set<string>();
  readonly #made: string[] = [];

  open(directory: string): string {
    if (!this.#opened.has(directory)) {
      const parent = path.dirname(directory);
      if (parent !== directory) this.open(parent);
      this.#make(directory);
      this.#opened.add(directory);
      assertInPlace(directory);
    }
    return directory;
  }

  recheck(): void {
    for (const directory of this.#opened) assertInPlace(directory);
  }

  removeMade(): void {
    for (const made of this.#made.toReversed()) removeEmpty(made);
  }

  close(): void {}

  #make(directory: string): void {
    if (existsSync(directory)) return;
    try {
      mkdirSync(directory);
      this.#made.push(directory);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

function assertInPlace(directory: string): void {
  if (realpathSync(directory) !== directory) {
    throw new PatchRefusal(`${directory} was a directory and has meanwhile been replaced by a link`);
  }
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // Somebody else uses it by now; then it stays.
  }
}
