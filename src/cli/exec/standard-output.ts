/** Our standard output: what is written arrives, or its reader is gone. */
import type { Writable } from 'node:stream';
import { hasCode } from '../../util/index.js';

export class StandardOutput {
  readonly #stream: Writable;
  #gone = false;
  #lost: Error | null = null;
  #unwritten = 0;
  #waiting: (() => void)[] = [];

  /** `onGone` is called when a write fails. */
  constructor(stream: Writable, onGone: () => void) {
    this.#stream = stream;
    stream.on('error', error => {
      this.#gone = true;
      if (!hasCode(error, 'EPIPE')) this.#lost = error;
      this.#settle();
      onGone();
    });
  }

  /** Why something could not be written although somebody may want it, such as a full disk. */
  get lost(): Error | null {
    return this.#lost;
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
