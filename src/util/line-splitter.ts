import { StringDecoder } from 'node:string_decoder';

/**
 * UTF-8 in pieces of any size -> lines, without their ends. Lines end in `\n` or `\r\n` and in nothing else: Node's own
 * readline also splits at U+2028, which may stand in JSON.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest: string[] = [];

  /** The lines that this piece completes. */
  push(piece: Buffer): string[] {
    const parts = this.#decoder.write(piece).split('\n');
    const [first = ''] = parts;
    this.#rest.push(first);
    if (parts.length === 1) return [];
    const lines = [this.#rest.join(''), ...parts.slice(1, -1)];
    this.#rest = [parts.at(-1) ?? ''];
    return lines.map(line => line.replace(/\r$/, ''));
  }

  /** What stands behind the last line end; null when nothing does. */
  end(): string | null {
    const rest = this.#rest.join('') + this.#decoder.end();
    this.#rest = [];
    return rest === '' ? null : rest;
  }
}
