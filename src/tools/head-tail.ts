/** So many small pieces are made one. */
const MANY = 256;
const NEWLINE = 10;

/**
 * The head and the tail of a stream of bytes of any length, in bounded memory. Cuts fall on character boundaries.
 */
export class HeadTail {
  readonly #half: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** Bytes pushed in all. */
  total = 0;
  #lineFeeds = 0;
  #lastByte = NEWLINE;

  /** `limit`: the most bytes that are kept. */
  constructor(limit: number) {
    this.#half = Math.floor(limit / 2);
  }

  /** Lines pushed in all; the last one may lack its end. */
  get lines(): number {
    return this.#lineFeeds + (this.#lastByte === NEWLINE ? 0 : 1);
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    this.#lastByte = chunk.at(-1) ?? this.#lastByte;
    for (let i = chunk.indexOf(NEWLINE); i >= 0; i = chunk.indexOf(NEWLINE, i + 1)) this.#lineFeeds++;
    let rest = chunk;
    const room = this.#half - this.#headBytes;
    if (room > 0) {
      const part = rest.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
      if (this.#head.length > MANY) this.#head = [Buffer.concat(this.#head)];
      rest = rest.subarray(room);
    }
    if (rest.length > 0) this.#pushTail(rest);
  }

  /** Takes away and returns the bytes of a character at the end that is not complete: at most three. */
  takePartialEnd(): Buffer {
    const parts = this.#tail.length > 0 ? this.#tail : this.#head;
    const last = Buffer.concat(parts.slice(-3));
    const partial = last.subarray(trimPartialEnd(last).length);
    if (partial.length === 0) return partial;
    parts.splice(-3, 3, last.subarray(0, last.length - partial.length));
    if (parts === this.#tail) this.#tailBytes -= partial.length;
    else this.#headBytes -= partial.length;
    this.total -= partial.length;
    return partial;
  }

  #pushTail(chunk: Buffer): void {
    // A copy, so that a small kept slice does not hold a large buffer of the stream.
    const kept = chunk.length > this.#half ? Buffer.from(chunk.subarray(chunk.length - this.#half)) : chunk;
    this.#tail.push(kept);
    this.#tailBytes += kept.length;
    while (this.#tail.length > 1 && this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#half) {
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    }
    if (this.#tail.length > MANY) this.#tail = [Buffer.concat(this.#tail)];
  }

  /**
   * The text, at most `budget` bytes of it: where more came, the first and last half of the budget with
   * `marker(removed bytes)` between them.
   */
  text(budget: number, marker: (removed: number) => string): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const kept = head.length + tail.length;
    if (kept === this.total && kept <= budget) return Buffer.concat([head, tail]).toString('utf8');
    const whole = kept === this.total ? Buffer.concat([head, tail]) : null;
    const half = Math.floor(budget / 2);
    const front = cutEnd(whole ?? head, half);
    const back = cutStart(whole ?? tail, half);
    const removed = this.total - front.length - back.length;
    return `${front.toString('utf8')}${marker(removed)}${back.toString('utf8')}`;
  }
}

/** The first `size` bytes, without a character that the cut would split. */
function cutEnd(bytes: Buffer, size: number): Buffer {
  if (bytes.length <= size) return trimPartialEnd(bytes);
  let end = size;
  while (end > 0 && size - end < 4 && isContinuation(bytes[end])) end--;
  return bytes.subarray(0, end);
}

/** The last `size` bytes, without the rest of a character that the cut split. */
function cutStart(bytes: Buffer, size: number): Buffer {
  let start = Math.max(0, bytes.length - size);
  for (let i = 0; i < 4 && isContinuation(bytes[start]); i++) start++;
  return bytes.subarray(start);
}

/** Drops an incomplete character at the end: the head was cut there by its limit. */
function trimPartialEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
