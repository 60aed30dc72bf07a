/** Log files of one process in a folder that other processes use as well. */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';

export type LogFileOptions = {
  /** Absolute; made when missing, for the person alone. */
  readonly folder: string;
  /** A file that is longer is left for a new one. */
  readonly maxBytes?: number;
  /** The newest files of the folder that stay, all processes together. */
  readonly keep?: number;
  /** Told once when nothing can be written. */
  readonly onProblem: (error: unknown) => void;
};

const MAX_BYTES = 10 * 1024 * 1024;
const KEEP = 20;
const NAME = /^interpreter-\d{8}T\d{6}-\d+(?:\.\d+)?\.log$/;

/**
 * Each process has files of its own (start, process id, number), so that none has to wait for another. They begin with
 * the first line. Lines are with the kernel when `write` returns; a failure costs the log, never the caller.
 */
export class LogFile {
  readonly #options: LogFileOptions;
  readonly #stem: string;
  #number = 0;
  #fd: number | null = null;
  #size = 0;
  #broken = false;

  constructor(options: LogFileOptions) {
    this.#options = options;
    const time = new Date().toISOString().replace(/[-:]|\.\d+Z$/g, '');
    this.#stem = `interpreter-${time}-${process.pid}`;
  }

  /** `text` ends with a line end. */
  write(text: string): void {
    if (this.#broken) return;
    try {
      this.#size += writeSync(this.#file(), text);
      if (this.#size >= (this.#options.maxBytes ?? MAX_BYTES)) this.close();
    } catch (error) {
      this.#broken = true;
      this.#options.onProblem(error);
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #file(): number {
    if (this.#fd !== null) return this.#fd;
    const { folder } = this.#options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const name = this.#number === 0 ? `${this.#stem}.log` : `${this.#stem}.${this.#number}.log`;
    this.#number++;
    this.#size = 0;
    this.#fd = openSync(path.join(folder, name), 'a', 0o600);
    for (const old of logFiles(folder).slice(this.#options.keep ?? KEEP)) rmSync(old, { force: true });
    return this.#fd;
  }
}

/** The log files in a folder, newest first; empty when there is no such folder. */
export function logFiles(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // No folder, or none that may be read: no log files either way.
    return [];
  }
  return names
    .filter(name => NAME.test(name))
    .map(name => path.join(folder, name))
    .map(file => ({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at || (a.file < b.file ? 1 : -1))
    .map(({ file }) => file);
}
