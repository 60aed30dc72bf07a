/** Runs jobs one after the other, in the order they were given; a job that fails does not stop the next. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Jobs that have not ended. */
  get size(): number {
    return this.#waiting;
  }

  run<T>(job: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const result = this.#last.then(job).finally(() => {
      this.#waiting--;
    });
    // The failure belongs to the caller of `run`; the queue only needs to know that the job ended.
    this.#last = result.catch(() => {});
    return result;
  }
}
