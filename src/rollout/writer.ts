/** Appending to a thread's file. */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, strictJson } from '../util/index.js';
import { encodePayload, type RolloutLine } from './lines.js';
import { storeOnce } from './store-once.js';
import { rolloutPath } from './thread-files.js';
import { isPacked, unpackInPlace, withoutPacking } from './unpack.js';

/**
 * The open record of one thread. Lines are numbered and kept in the order of `append`; whatever was appended in one
 * go of the event loop is written by one call. Nothing here throws for reasons of the file system: what cannot be written
 * now is kept and written later, with one warning per trouble.
 */
export interface RolloutWriter {
  readonly path: string;
  append(line: RolloutLine): void;
  /**
   * Hands everything to the kernel, so that a killed process loses nothing. False when that failed for now. After the
   * line that ends a turn it closes the file, so that idle threads hold no descriptors.
   */
  flush(): boolean;
  /** `flush`, then the file is put on the disk in the background and closed. A later `append` opens it again. */
  close(): void;
  /**
   * Whether the file is as this writer left it. `changed`: another program appended, so read it again before going on.
   * `missing`: somebody deleted or moved it. `new`: nothing was appended yet. While lines wait for the disk it is
   * `current`.
   */
  check(): 'current' | 'changed' | 'missing' | 'new';
}

export type WriterOptions = {
  /** Told once when writing fails, and once when lines had to be given up. */
  readonly warn: (message: string) => void;
};

/** Where to go on in a file; a thread that was read has it. */
export type AppendPoint = {
  readonly path: string;
  /** Bytes that were read. */
  readonly size: number;
  /** Null for files whose lines are not numbered. */
  readonly next_ordinal: number | null;
  /** Large images in the file, by hash. */
  readonly image_hashes: readonly string[];
};

/** A record for a new thread. The file is made by the first line, `HOME/sessions/YYYY/MM/DD/rollout-…-<id>.jsonl`. */
export function createRollout(
  options: WriterOptions & { readonly home: string; readonly threadId: string; readonly startedAt: Date },
): RolloutWriter {
  const path = rolloutPath(options.home, options.threadId, options.startedAt);
  return new FileWriter({ path, size: null, next_ordinal: 0, image_hashes: [] }, options);
}

/** Goes on with a thread that was read. The first write closes a torn last line, and unpacks a packed file. */
export function openRollout(at: AppendPoint, options: WriterOptions): RolloutWriter {
  return new FileWriter(at, options);
}

/** Characters kept while the disk takes nothing. */
const MAX_PENDING = 64 * 1024 * 1024;
const RETRY_MS = 1_000;
const NEWLINE = 10;

type Pending = { readonly text: string; readonly droppable: boolean };

class FileWriter implements RolloutWriter {
  readonly path: string;
  readonly #warn: (message: string) => void;
  readonly #images: Set<string>;
  /** The file while it is still packed. */
  #packed: string | null;
  /** Bytes in the file when all is well; null before it exists. */
  #size: number | null;
  #nextOrdinal: number | null;
  #fd: number | null = null;
  #pending: Pending[] = [];
  #pendingSize = 0;
  /** What is left of a batch that was written in part. */
  #rest: Buffer | null = null;
  #scheduled = false;
  /** The last line ended a turn: nothing may come for a long time. */
  #turnEnded = false;
  #failedAt: number | null = null;
  #retry: NodeJS.Timeout | null = null;
  #gaveUp = false;

  constructor(at: Omit<AppendPoint, 'size'> & { readonly size: number | null }, options: WriterOptions) {
    this.path = withoutPacking(at.path);
    this.#packed = isPacked(at.path) ? at.path : null;
    this.#warn = options.warn;
    this.#images = new Set(at.image_hashes);
    this.#size = at.size;
    this.#nextOrdinal = at.next_ordinal;
  }

  append(line: RolloutLine): void {
    const text = this.#textOf(line);
    this.#pending.push({ text, droppable: isDroppable(line) });
    this.#pendingSize += text.length;
    this.#turnEnded = endsTurn(line);
    if (this.#pendingSize > MAX_PENDING) this.#shed();
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#waitsForRetry()) this.flush();
    });
  }

  flush(): boolean {
    if (this.#rest === null && this.#pending.length === 0) return true;
    try {
      this.#writeAll();
    } catch (error) {
      this.#failed(error);
      return false;
    }
    this.#recovered();
    if (this.#turnEnded) this.#closeFile();
    return true;
  }

  close(): void {
    this.flush();
    this.#closeFile();
  }

  #closeFile(): void {
    this.#turnEnded = false;
    const fd = this.#fd;
    if (fd === null) return;
    this.#fd = null;
    // A crash of the machine may lose what is not on the disk yet; nobody waits for that, so errors change nothing.
    fdatasync(fd, () => closeQuietly(fd));
  }

  check(): 'current' | 'changed' | 'missing' | 'new' {
    if (!this.flush()) return 'current';
    if (this.#size === null || this.#size === 0) return 'new';
    try {
      const stat = statSync(this.#packed ?? this.path, { throwIfNoEntry: false });
      if (stat === undefined) return 'missing';
      return this.#packed !== null || stat.size === this.#size ? 'current' : 'changed';
    } catch (error) {
      this.#failed(error);
      return 'missing';
    }
  }

  #textOf(line: RolloutLine): string {
    const head: { timestamp: string; ordinal?: number; type: string } = {
      timestamp: new Date().toISOString(),
      ...(this.#nextOrdinal === null ? {} : { ordinal: this.#nextOrdinal++ }),
      type: line.type,
    };
    const payload = strictJson(encodePayload(storeOnce(line, this.#images)));
    return `${JSON.stringify(head).slice(0, -1)},"payload":${payload}}\n`;
  }

  #writeAll(): void {
    const fd = this.#open();
    for (;;) {
      if (this.#rest === null) {
        if (this.#pending.length === 0) return;
        this.#rest = Buffer.from(this.#pending.map(line => line.text).join(''));
        this.#pending = [];
        this.#pendingSize = 0;
      }
      while (this.#rest.length > 0) {
        const written = writeSync(fd, this.#rest);
        this.#size = (this.#size ?? 0) + written;
        this.#rest = this.#rest.subarray(written);
      }
      this.#rest = null;
    }
  }

  #open(): number {
    if (this.#fd !== null) return this.#fd;
    if (this.#packed !== null) unpackInPlace(this.#packed);
    this.#packed = null;
    const isNew = this.#size === null || this.#size === 0;
    if (isNew) mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    // A file that was there and is gone is not made again: without its beginning it would be no thread.
    const fd = openSync(this.path, constants.O_RDWR | constants.O_APPEND | (isNew ? constants.O_CREAT : 0), 0o600);
    this.#fd = fd;
    const size = fstatSync(fd).size;
    // After our own partial write the rest simply follows. Any other end that is no line end is somebody's torn line.
    if (this.#rest !== null && size === this.#size) return fd;
    this.#size = size;
    if (size > 0 && lastByte(fd, size) !== NEWLINE) this.#size += writeSync(fd, '\n');
    return fd;
  }

  #failed(error: unknown): void {
    // The next try opens it anew: the file may have to be looked up again.
    if (this.#fd !== null) closeQuietly(this.#fd);
    this.#fd = null;
    if (this.#failedAt === null) {
      this.#warn(
        `Cannot write ${this.path}: ${messageOf(error)}. The thread goes on; what is missing is written when that works again.`,
      );
    }
    this.#failedAt = Date.now();
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.flush();
    }, RETRY_MS).unref();
  }

  #recovered(): void {
    this.#failedAt = null;
    this.#gaveUp = false;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  #waitsForRetry(): boolean {
    return this.#failedAt !== null && Date.now() - this.#failedAt < RETRY_MS;
  }

  /** Makes room: first what no resume needs, then the oldest lines. */
  #shed(): void {
    const keep = (lines: Pending[]) => {
      this.#pending = lines;
      this.#pendingSize = lines.reduce((sum, line) => sum + line.text.length, 0);
    };
    keep(this.#pending.filter(line => !line.droppable));
    while (this.#pendingSize > MAX_PENDING / 2) keep(this.#pending.slice(Math.ceil(this.#pending.length / 2)));
    if (this.#gaveUp) return;
    this.#gaveUp = true;
    this.#warn(`${this.path} could not be written for too long: some of its lines were given up.`);
  }
}

function endsTurn(line: RolloutLine): boolean {
  return line.type === 'event_msg' && (line.payload.type === 'task_complete' || line.payload.type === 'turn_aborted');
}

/** Items are for people and lists; the history has what a resume needs. */
function isDroppable(line: RolloutLine): boolean {
  return line.type === 'event_msg' && line.payload.type === 'item_completed';
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The descriptor is gone either way, and errors of writing were seen when writing.
  }
}

function lastByte(fd: number, size: number): number | undefined {
  const buffer = Buffer.alloc(1);
  readSync(fd, buffer, 0, 1, size - 1);
  return buffer[0];
}
