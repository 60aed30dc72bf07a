/** The lines of a file, over its bytes: what is not touched is copied, never decoded. */
import { isUtf8 } from 'node:buffer';

const LF = 10;
const CR = 13;
/** Larger files are decoded anew for each look at a line. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
const BOM = [0xef, 0xbb, 0xbf];

/**
 * Lines end in `\n` or `\r\n`; a last line without either counts. A byte order mark belongs to no line. In a file that
 * is not UTF-8, bytes that can't be decoded read as U+FFFD, as they do in the output of a command; such lines can be
 * matched and removed, and all other bytes stay as they are.
 */
export class FileLines {
  readonly bytes: Buffer;
  readonly utf8: boolean;
  /** `#starts[i]` = offset of line i, and one more for the end. */
  readonly #starts: number[];
  readonly #texts: (string | undefined)[] = [];

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.utf8 = isUtf8(bytes);
    const hasBom = BOM.every((byte, i) => bytes[i] === byte);
    this.#starts = [hasBom ? BOM.length : 0];
    for (let at = this.start(0); at < bytes.length; ) {
      const end = bytes.indexOf(LF, at);
      at = end < 0 ? bytes.length : end + 1;
      this.#starts.push(at);
    }
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  get hasBom(): boolean {
    return this.start(0) > 0;
  }

  /** True when the last line has its line ending, and for an empty file. */
  get hasFinalNewline(): boolean {
    return this.count === 0 || this.bytes[this.bytes.length - 1] === LF;
  }

  /** Offset where line `i` starts; `start(count)` is the end of the file. */
  start(i: number): number {
    return this.#starts[i] ?? this.bytes.length;
  }

  /** `\n`, `\r\n`, or "" for a last line without an ending. */
  ending(i: number): '\n' | '\r\n' | '' {
    const end = this.start(i + 1);
    if (i < 0 || i >= this.count || this.bytes[end - 1] !== LF) return '';
    return end - 2 >= this.start(i) && this.bytes[end - 2] === CR ? '\r\n' : '\n';
  }

  /** Line `i` without its ending. */
  text(i: number): string {
    let text = this.#texts[i];
    if (text === undefined) {
      text = this.bytes.toString('utf8', this.start(i), this.start(i + 1) - this.ending(i).length);
      if (this.bytes.length <= MAX_KEPT_BYTES) this.#texts[i] = text;
    }
    return text;
  }

  /** Bytes of line `i` without its ending. */
  length(i: number): number {
    return this.start(i + 1) - this.ending(i).length - this.start(i);
  }

  /** Line `i` without its ending, each byte as one character. */
  latin1(i: number): string {
    const start = this.start(i);
    return this.bytes.toString('latin1', start, start + this.length(i));
  }
}
