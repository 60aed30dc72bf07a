/** Our standard output: what is written arrives, or its reader is gone. */
import type { Writable } from 'node:stream';

export class StandardOutput {
  readonly #stream: Writable;
  #gone = false;
  #unwritten = 0;
  #waiting: (() => void)[] = [];

  /** `onGone` is called when a write fails. */
  constructor(stream: Writable, onGone: () => void) {
    this.#stream = stream;
    stream.on('error', () => {
      this.#gone = true;
      this.#settle();
      onGone();
    });
  }

  write(text: string): void {
    if (this.#gone || text === '') return;
    this.#unwritten++;
    this.#stream.write(text, () => {
      this.#unwritten--;
      if (this.#unwritten === 0) this.#settle();
    });
  }

  /** Resolves when everything is with the system, or there is no reader. */
  flushed(): Promise<void> {
    if (this.#gone || this.#unwritten === 0) return Promise.resolve();
    return new Promise(resolve => {
      this.#waiting.push(resolve);
    });
  }

  #settle(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
