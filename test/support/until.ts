/** Resolves when `check` gives something; the test's own time limit ends the wait. */
export async function until<T>(check: () => T | null | undefined | false): Promise<T> {
  for (;;) {
    const value = check();
    if (value) return value;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
