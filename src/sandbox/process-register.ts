/**
 * Which commands of this server are alive: in memory to end them, and in a file, so that the next server can end what
 * a killed one left. The file has one line for each command: pid and start time.
 */
import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { killTreesNow } from './end-tree.js';
import { isAlive } from './process-table.js';
import { makeTree, type ProcessTree, signalGroup } from './process-tree.js';
import type { ServerDirectory } from './server-directory.js';
import { Watchdog } from './watchdog.js';

const FILE = 'processes';
const WRITE_DOWN_AFTER_MS = 30;

export class ProcessRegister {
  readonly #directory: ServerDirectory | null;
  readonly #live = new Set<ProcessTree>();
  readonly #lingering = new Set<ProcessTree>();
  readonly #writtenDown = new Set<ProcessTree>();
  readonly #watchdog: Watchdog;
  #commands = 0;

  /** Without a folder nothing is written down. */
  constructor(directory: ServerDirectory | null) {
    this.#directory = directory;
    this.#watchdog = new Watchdog(this.#id, directory);
  }

  /**
   * To be called before a command is started: from its first moment on, somebody has to be there who ends it when this
   * process is killed.
   */
  watch(): void {
    this.#watchdog.start();
  }

  /** The value of `MARKER_VARIABLE` for the next command. */
  nextMarker(): string {
    return `${this.#id}.${++this.#commands}.`;
  }

  add(pid: number, marker: string, isSandbox: boolean): ProcessTree {
    const tree = makeTree(pid, marker, isSandbox);
    this.#live.add(tree);
    // Most commands are over in a moment, and all carry a mark by which they can be found.
    setTimeout(() => this.#writeDown(tree), WRITE_DOWN_AFTER_MS).unref();
    return tree;
  }

  /** The command has ended; `lingering`: others of its group go on, and are ended when we close. */
  ended(tree: ProcessTree, lingering: boolean): void {
    this.#live.delete(tree);
    if (lingering) {
      for (const other of this.#lingering) if (isOver(other)) this.#forget(other);
      this.#lingering.add(tree);
    } else this.#forget(tree);
  }

  #forget(tree: ProcessTree): void {
    this.#lingering.delete(tree);
    if (!this.#writtenDown.delete(tree)) return;
    this.#watchdog.end(tree.pid);
    if (this.#writtenDown.size === 0 && this.#directory) this.#clear(this.#directory);
  }

  /** Everything to be ended when we close, with a last one for what has left its group and is known by its mark. */
  trees(): ProcessTree[] {
    if (this.#commands === 0) return [];
    return [...this.#live, ...this.#lingering, markedTree(this.#id)];
  }

  /** After all commands have been ended. */
  close(): void {
    this.#watchdog.close();
  }

  get #id(): string {
    return this.#directory?.id ?? `${process.pid}`;
  }

  #writeDown(tree: ProcessTree): void {
    if (!this.#live.has(tree)) return;
    this.#writtenDown.add(tree);
    this.#watchdog.add(tree.pid);
    if (this.#directory && tree.startTime !== null) this.#write(`${tree.pid} ${tree.startTime}\n`, this.#directory);
  }

  #write(line: string, directory: ServerDirectory): void {
    try {
      appendFileSync(join(directory.path, FILE), line, { mode: 0o600 });
    } catch {
      // A full disk: this command is then ended by its parent's death signal and by its marker alone.
    }
  }

  #clear(directory: ServerDirectory): void {
    try {
      truncateSync(join(directory.path, FILE));
    } catch {
      // The folder was removed; lines of ended processes do no harm either.
    }
  }
}

/** Whatever carries the mark of a server. */
function markedTree(id: string): ProcessTree {
  return { pid: 0, startTime: null, marker: `${id}.`, isSandbox: false, remaining: [] };
}

function isOver({ remaining }: ProcessTree): boolean {
  return remaining?.every(({ pid, startTime }) => !isAlive(pid, startTime)) ?? false;
}

/** Ends what a server that is no more has left running. */
export function sweepProcesses(directory: ServerDirectory): void {
  for (const line of readLines(join(directory.path, FILE))) {
    const [pid = '', startTime = ''] = line.split(' ');
    // The start time tells a recycled pid from the process that was written down.
    if (isAlive(Number(pid), startTime)) signalGroup(Number(pid), 'SIGKILL');
  }
  killTreesNow([markedTree(directory.id)]);
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    // It ran no command.
    return [];
  }
}
