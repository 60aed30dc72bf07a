/** The threads of a home, from the index. */
import type { ThreadSummary } from '../protocol/index.js';
import { heldThreads, listRollouts, summarizeRollout } from '../rollout/index.js';
import { openThreadIndex, type ThreadFilter } from '../state/index.js';

export type ThreadsPlace = {
  /** INTERPRETER_HOME. */
  readonly home: string;
  /** Folder of the index, `sqlite_home`. */
  readonly sqliteHome: string;
};

/** Newest first. `warn` is told of files that can't be read. */
export async function allThreads(
  place: ThreadsPlace,
  filter: ThreadFilter,
  warn: (message: string) => void,
): Promise<ThreadSummary[]> {
  const index = openThreadIndex({
    dir: place.sqliteHome,
    rollouts: {
      list: () => listRollouts(place.home),
      summarize: summarizeRollout,
      running: () => heldThreads(place.home),
    },
    warn,
  });
  try {
    return await index.list(filter);
  } finally {
    await index.close();
  }
}
