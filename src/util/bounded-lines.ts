const NEWLINE = 10;
/** Of each end of a line that is too long: enough to find the id of the message it was. */
const END_BYTES = 2048;

export type BoundedLinesListener = {
  /** Without its line end, decoded as UTF-8; never blank. */
  onLine: (line: string) => void;
  onTooLong: (head: string, tail: string) => void;
};

/** Cuts a stream of bytes into lines; of a line that is too long only its two ends are kept. */
export class BoundedLines {
  readonly #maxBytes: number;
  readonly #listener: BoundedLinesListener;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Of a line that is too long. */
  #head: Buffer | null = null;
  #tail = Buffer.alloc(0);

  constructor(maxBytes: number, listener: BoundedLinesListener) {
    this.#maxBytes = maxBytes;
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
  }

  /** The stream is over: what came after the last line end is a line too. */
  end(): void {
    this.#endLine();
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#head === null) {
      this.#parts.push(part);
      if (this.#bytes <= this.#maxBytes) return;
      const whole = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#head = Buffer.from(whole.subarray(0, END_BYTES));
      this.#tail = Buffer.from(whole.subarray(-END_BYTES));
      return;
    }
    this.#tail = Buffer.concat([this.#tail, part.subarray(-END_BYTES)]).subarray(-END_BYTES);
  }

  #endLine(): void {
    const head = this.#head;
    const line = head === null ? Buffer.concat(this.#parts).toString('utf8') : '';
    const tail = this.#tail;
    this.#parts = [];
    this.#bytes = 0;
    this.#head = null;
    if (head !== null) this.#listener.onTooLong(head.toString('utf8'), tail.toString('utf8'));
    else if (line.trim() !== '') this.#listener.onLine(line);
  }
}
