import type { Readable } from 'node:stream';

const NEWLINE = 10;

/** A line longer than this is refused without being kept in memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

export type LineListener = {
  /** A line without its end; never blank. Bytes that are no UTF-8 arrive as U+FFFD. */
  onLine: (line: string) => void;
  /** A line above the limit was skipped. */
  onOversized: () => void;
  /** The other side closed, or reading failed. Called once; nothing follows. */
  onEnd: () => void;
};

/** Splits a byte stream into lines: `\n` or `\r\n`, blank lines ignored, a last line without end included. */
export class LineReader {
  readonly #input: Readable;
  readonly #listener: LineListener;
  /** The beginning of a line whose end has not come yet. */
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;
  #ended = false;

  constructor(input: Readable, listener: LineListener) {
    this.#input = input;
    this.#listener = listener;
    input.on('data', (chunk: Buffer | string) => this.#take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
    input.on('end', () => this.#end());
    input.on('close', () => this.#end());
    input.on('error', () => this.#end());
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  /** Stops reading for good; `onEnd` is not called. */
  close(): void {
    this.#ended = true;
    this.#parts = [];
    this.#input.pause();
  }

  #take(chunk: Buffer): void {
    let from = 0;
    while (!this.#ended) {
      const at = chunk.indexOf(NEWLINE, from);
      if (at === -1) break;
      this.#finishLine(chunk.subarray(from, at));
      from = at + 1;
    }
    if (this.#ended || from === chunk.length) return;
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > MAX_LINE_BYTES) {
      this.#skipping = true;
      this.#parts = [];
    } else if (!this.#skipping) this.#parts.push(part);
  }

  #finishLine(last: Buffer): void {
    this.#keep(last);
    const { length } = this.#parts;
    const bytes = length === 1 ? (this.#parts[0] ?? last) : Buffer.concat(this.#parts);
    const skipped = this.#skipping;
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
    if (skipped) return this.#listener.onOversized();
    const line = bytes.toString('utf8').trim();
    if (line !== '') this.#listener.onLine(line);
  }

  #end(): void {
    if (this.#ended) return;
    if (this.#size > 0) this.#finishLine(Buffer.alloc(0));
    this.#ended = true;
    this.#listener.onEnd();
  }
}
