import type { Readable } from 'node:stream';
import { BoundedLines } from '../util/index.js';

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
  readonly #lines: BoundedLines;
  #ended = false;

  constructor(input: Readable, listener: LineListener) {
    this.#input = input;
    this.#listener = listener;
    this.#lines = new BoundedLines(MAX_LINE_BYTES, {
      onLine: line => {
        if (!this.#ended) listener.onLine(line.trim());
      },
      onTooLong: () => {
        if (!this.#ended) listener.onOversized();
      },
    });
    input.on('data', (chunk: Buffer | string) => {
      if (!this.#ended) this.#lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    });
    for (const event of ['end', 'close', 'error']) input.on(event, () => this.#end());
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
    this.#input.pause();
  }

  #end(): void {
    if (this.#ended) return;
    this.#lines.end();
    this.#ended = true;
    this.#listener.onEnd();
  }
}
