/**
 * The SQLite index of threads beside their rollouts, for lists. It is a cache: whatever is missing, old or damaged is
 * taken from the files again. Must never: hold what is nowhere else, slow down a turn, or show the user an error of its own.
 */
export {
  INDEX_FILE,
  openThreadIndex,
  type RolloutSource,
  type ThreadFilter,
  type ThreadIndex,
} from './thread-index.js';
