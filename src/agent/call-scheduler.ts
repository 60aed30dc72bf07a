/** Decides which tool calls of one answer run at the same time: parallel ones together, others alone, in order. */
export class CallScheduler {
  #lastExclusive: Promise<void> = Promise.resolve();
  #sinceExclusive: Promise<void>[] = [];

  /** Runs `work` when it may run; the promise settles with its result. */
  schedule<T>(parallel: boolean, work: () => Promise<T>): Promise<T> {
    const before = parallel ? this.#lastExclusive : Promise.all([this.#lastExclusive, ...this.#sinceExclusive]);
    const result = before.then(work);
    // What waits behind a call waits for its end only; its failure belongs to whoever holds `result`.
    const settled = result.then(
      () => {},
      () => {},
    );
    if (parallel) {
      this.#sinceExclusive.push(settled);
    } else {
      this.#lastExclusive = settled;
      this.#sinceExclusive = [];
    }
    return result;
  }
}
