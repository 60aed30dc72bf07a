/** Fires when nothing was heard for a while; held while a person is asked. */
export class QuietTimer {
  readonly #ms: number;
  readonly #fire: () => void;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;

  constructor(ms: number, fire: () => void) {
    this.#ms = ms;
    this.#fire = fire;
    this.reset();
  }

  /** A sign of life. */
  reset(): void {
    clearTimeout(this.#timer);
    if (this.#holds === 0) this.#timer = setTimeout(this.#fire, this.#ms);
  }

  hold(): void {
    this.#holds++;
    clearTimeout(this.#timer);
  }

  release(): void {
    this.#holds--;
    this.reset();
  }

  stop(): void {
    clearTimeout(this.#timer);
    // Signs of life after the end start nothing.
    this.#holds = Number.POSITIVE_INFINITY;
  }
}
