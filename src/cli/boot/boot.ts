/** What the launcher hands to the program beside its arguments. */
export type Boot = {
  /**
   * Keeps the compiled form of all code loaded so far, so that the next start does not compile it again. Blocks for
   * some milliseconds: call it when idle, after the first answer. Later calls keep only what was loaded since.
   * Never throws; an installation that can't be written stays without a cache.
   */
  readonly saveCodeCache: () => void;
};

/** The contract of the bundled program: the built file of `src/cli/main.ts` exports `main` of this type. */
export type Main = (argv: readonly string[], boot: Boot) => Promise<void>;

/** The file of the bundle that holds copies of all files that turns need. */
export const PACK = 'turn.pack.js';
