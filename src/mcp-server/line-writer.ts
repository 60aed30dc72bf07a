import type { Writable } from 'node:stream';
import { messageOf, strictJson } from '../util/index.js';
import { errorResponse, INTERNAL_ERROR, type RequestId } from './message.js';

/** Unread bytes from which on the client counts as slow: text and output deltas are then left out. */
const SLOW_BYTES = 256 * 1024;
/** Unread bytes from which on no event is kept for the client any more. */
const FULL_BYTES = 8 * 1024 * 1024;
/** Unread bytes from which on no further request is read, so that answers can't pile up either. */
const STOP_READING_BYTES = 32 * 1024 * 1024;

export type LineWriterOptions = {
  readonly output: Writable;
  /** Nobody reads any more (closed pipe). Called once. */
  readonly onGone: () => void;
  /** Reading requests makes no sense now / makes sense again. */
  readonly onFull: (full: boolean) => void;
};

/**
 * Writes messages, one per line, in the order of the calls. What must arrive is always taken; events are taken only
 * while the client keeps up, so that one that does not read costs a bounded amount of memory.
 */
export class LineWriter {
  readonly #output: Writable;
  readonly #options: LineWriterOptions;
  #unread = 0;
  #full = false;
  #gone = false;
  #corked = false;
  #idle: (() => void)[] = [];

  constructor(options: LineWriterOptions) {
    this.#options = options;
    this.#output = options.output;
    this.#output.on('error', () => this.#leave());
    this.#output.on('close', () => this.#leave());
  }

  /** True when the client is behind by more than a few messages. */
  get slow(): boolean {
    return this.#unread > SLOW_BYTES;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** For answers and requests: never dropped while somebody reads. */
  send(line: string): void {
    this.#write(line);
  }

  /** For answers to a request: like `send`, but a value that can't be written as JSON is answered with an error. */
  sendMessage(message: object): void {
    let line: string;
    try {
      line = strictJson(message);
    } catch (error) {
      const id = 'id' in message ? (message.id as RequestId) : null;
      line = errorResponse(id, INTERNAL_ERROR, `The answer can't be written as JSON: ${messageOf(error)}`);
    }
    this.#write(line);
  }

  /** For events: false when it was dropped because the client is far behind. */
  offer(line: string): boolean {
    if (this.#unread > FULL_BYTES) return false;
    this.#write(line);
    return true;
  }

  /** Resolves when everything written so far is with the system, or nobody reads any more. */
  flushed(): Promise<void> {
    if (this.#unread === 0 || this.#gone) return Promise.resolve();
    return new Promise(resolve => {
      this.#idle.push(resolve);
    });
  }

  #write(line: string): void {
    if (this.#gone) return;
    const text = `${line}\n`;
    this.#unread += text.length;
    if (!this.#full && this.#unread > STOP_READING_BYTES) this.#setFull(true);
    this.#corkForThisTick();
    this.#output.write(text, () => this.#written(text.length));
  }

  /** Lines of one tick go out in one system call. */
  #corkForThisTick(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#output.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#output.uncork();
    });
  }

  #written(length: number): void {
    this.#unread -= length;
    if (this.#full && this.#unread < STOP_READING_BYTES / 2) this.#setFull(false);
    if (this.#unread === 0) this.#settle();
  }

  #setFull(full: boolean): void {
    this.#full = full;
    this.#options.onFull(full);
  }

  #settle(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#settle();
    this.#options.onGone();
  }
}
