/** A server that lived for so long was healthy: what failed before is forgotten. */
const HEALTHY_MS = 10_000;
/** The first new start is at once; then 0.5 s, 1 s, 2 s … */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

/** When a server that fails may be started again. */
export class Restarts {
  #failures = 0;
  #notBefore = 0;
  /** When the last good start was over; null after a failure. */
  #readySince: number | null = null;

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Milliseconds until the next start; 0 or less = now. */
  get pauseMs(): number {
    return this.#notBefore - performance.now();
  }

  /** A start went well. */
  ready(): void {
    this.#readySince = performance.now();
  }

  /** A start failed, or what ran has ended. The failures before a time in which all was well are forgotten. */
  failed(): void {
    const wasHealthy = this.#readySince !== null && performance.now() - this.#readySince >= HEALTHY_MS;
    this.#readySince = null;
    this.#failures = wasHealthy ? 1 : this.#failures + 1;
    const pause = this.#failures < 2 ? 0 : FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 2, 10);
    this.#notBefore = performance.now() + Math.min(pause, LONGEST_PAUSE_MS);
  }
}
