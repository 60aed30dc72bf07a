/** What ends a run from outside: signals, and that nobody reads its output any more. */
import { messageOf, stackOf } from '../../util/index.js';
import { watchReader } from './reader-watch.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STDOUT = 1;
/** After a signal everything has to be gone two seconds later; what hangs then is cut off. */
const PATIENCE_MS = 1500;

export class Interruption {
  readonly #abort = new AbortController();
  readonly #cutOff: (why: string) => void;
  readonly #stopWatching: () => void;

  /** `cutOff` ends the process at once: the run did not end in time, was told a second time, or has a fault. */
  constructor(cutOff: (why: string) => void) {
    this.#cutOff = cutOff;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    process.on('uncaughtException', this.#onFault);
    process.on('unhandledRejection', this.#onFault);
    this.#stopWatching = watchReader(STDOUT, () => this.interrupt('nobody reads the output any more'));
  }

  /** Fires when the run has to end. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  interrupt(why: string): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(why);
    setTimeout(() => this.#cutOff(why), PATIENCE_MS).unref();
  }

  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    process.off('uncaughtException', this.#onFault);
    process.off('unhandledRejection', this.#onFault);
    this.#stopWatching();
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (this.#abort.signal.aborted) this.#cutOff(signal);
    else this.interrupt(signal);
  };

  readonly #onFault = (error: unknown): void => {
    process.stderr.write(`${stackOf(error)}\n`);
    this.#cutOff(`internal error: ${messageOf(error)}`);
  };
}
