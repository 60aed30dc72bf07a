type Missing = null | undefined | false;

/** Resolves when `check` gives something; the test's own time limit ends the wait. */
export async function until<T>(check: () => T | Missing | Promise<T | Missing>): Promise<T> {
  for (;;) {
    const value = await check();
    if (value) return value;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
