/** The lines of a file as bytes, in one pass, without holding the file. */
import { promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isPacked, unpacked } from './unpack.js';

export type LineRange = { readonly start: number; readonly end: number };

/**
 * Called for each line without its line end; its bytes are valid during the call. `offset`: where it starts.
 * `false` ends the reading.
 */
export type OnLine = (line: Buffer, offset: number) => unknown;

const CHUNK = 1024 * 1024;
/** A longer line is damage: it is passed over without being kept. */
const MAX_LINE = 256 * 1024 * 1024;
const NEWLINE = 10;

/**
 * Reads `path` and returns how many bytes that were. Packed files are unpacked on the way where this version of Node can do that. Lines are handed out between reads, so that a long file does not block the process.
 */
export async function readLines(path: string, onLine: OnLine): Promise<number> {
  const splitter = new LineSplitter(onLine);
  if (isPacked(path)) {
    for await (const chunk of unpacked(path)) {
      if (!splitter.push(chunk)) break;
    }
  } else {
    const file = await fs.open(path, 'r');
    try {
      await readPlain(file, splitter);
    } finally {
      await file.close();
    }
  }
  return splitter.end();
}

/** The bytes of one part of a plain file. */
export async function readRange(path: string, range: LineRange): Promise<Buffer> {
  const file = await fs.open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(range.end - range.start);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, range.start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Hands out the lines of a piece of a file that is already in memory. */
export function splitLines(bytes: Buffer, offset: number, onLine: OnLine): void {
  const splitter = new LineSplitter(onLine, offset);
  splitter.push(bytes);
  splitter.end();
}

async function readPlain(file: FileHandle, splitter: LineSplitter): Promise<void> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK, null);
    if (bytesRead === 0 || !splitter.push(chunk.subarray(0, bytesRead))) return;
  }
}

class LineSplitter {
  readonly #onLine: OnLine;
  /** The begun line, in pieces. */
  #pieces: Buffer[] = [];
  #pending = 0;
  #lineStart: number;
  #position: number;
  #stopped = false;

  constructor(onLine: OnLine, offset = 0) {
    this.#onLine = onLine;
    this.#lineStart = offset;
    this.#position = offset;
  }

  /** False when the listener has enough. */
  push(chunk: Buffer): boolean {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && !this.#stopped; at = chunk.indexOf(NEWLINE, from)) {
      this.#finish(chunk.subarray(from, at));
      from = at + 1;
      this.#lineStart = this.#position + from;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    this.#position += chunk.length;
    return !this.#stopped;
  }

  end(): number {
    if (this.#pending > 0 && !this.#stopped) this.#finish(Buffer.alloc(0));
    return this.#position;
  }

  #keep(piece: Buffer): void {
    this.#pending += piece.length;
    // Copied, since the chunk is used again.
    if (this.#pending <= MAX_LINE) this.#pieces.push(Buffer.from(piece));
    else this.#pieces = [];
  }

  #finish(last: Buffer): void {
    const tooLong = this.#pending > MAX_LINE;
    const line = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#pending = 0;
    if (this.#onLine(tooLong ? Buffer.alloc(0) : line, this.#lineStart) === false) this.#stopped = true;
  }
}
