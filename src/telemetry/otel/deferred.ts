/** Work that nobody waits for: done a moment later, when a turn is most likely waiting for something itself. */

const DELAY_MS = 20;
/** Jobs that wait; more are dropped. */
const MAX_JOBS = 10_000;

export class Deferred {
  readonly #onError: (error: unknown) => void;
  #jobs: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Jobs are done in the order in which they came. */
  add(job: () => void): void {
    if (this.#jobs.length >= MAX_JOBS) return;
    this.#jobs.push(job);
    this.#timer ??= setTimeout(() => this.drain(), DELAY_MS).unref();
  }

  /** Does now what waits. */
  drain(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const jobs = this.#jobs;
    this.#jobs = [];
    for (const job of jobs) {
      try {
        job();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
