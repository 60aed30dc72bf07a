/** The beginning of a stream of bytes; what comes after `maxBytes` is dropped. */
export class CappedBytes {
  readonly #chunks: Buffer[] = [];
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  /** False when there was no room for all of it. */
  add(chunk: Buffer): boolean {
    const part = chunk.subarray(0, this.#left);
    this.#left -= part.length;
    if (part.length > 0) this.#chunks.push(part);
    return part.length === chunk.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
