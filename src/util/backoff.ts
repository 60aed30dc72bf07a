/** Longer than this nobody has to wait for an attempt. */
const LONGEST_MS = 20_000;

/** Milliseconds before something is tried again: 200, doubled at each attempt (1, 2, …), plus or minus 10 %. */
export function backoffMs(attempt: number): number {
  const base = Math.min(200 * 2 ** (attempt - 1), LONGEST_MS);
  return Math.round(base * (0.9 + Math.random() * 0.2));
}
