/** Ends a process tree: TERM, a period of grace, KILL until nobody is left. */

import { delay } from '../util/index.js';
import { isGone, type ProcessTree, signalTree } from './process-tree.js';

/** Fork bombs need more than one round; what outlives this many can't be killed by us at all. */
const KILL_ROUNDS = 20;

/**
 * After somebody was found, nobody is left when nobody was found so many times: a process that has left its group can't
 * be recognised in the moment in which it becomes another program.
 */
const LOOKS = 2;

/** Resolves when no member is left, or when KILL does not help (uninterruptible sleep, another user's process). */
export async function endTree(tree: ProcessTree, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    signalTree([tree], 'SIGTERM');
    // A stopped process takes the TERM only when it goes on.
    signalTree([tree], 'SIGCONT');
    if (await isGoneWithin(tree, graceMs)) return;
  }
  let unseen = LOOKS - 1;
  for (let round = 0; round < KILL_ROUNDS; round++) {
    unseen = signalTree([tree], 'SIGKILL').length === 0 ? unseen + 1 : 0;
    if (unseen === LOOKS) return;
    await delay(Math.min(5 * (round + 1), 25));
  }
}

/** For exit handlers: KILL to everybody, at once and without waiting. */
export function killTreesNow(trees: readonly ProcessTree[]): void {
  if (trees.length === 0) return;
  let unseen = LOOKS - 1;
  for (let round = 0; round < 3 && unseen < LOOKS; round++) {
    unseen = signalTree(trees, 'SIGKILL').length === 0 ? unseen + 1 : 0;
  }
}

async function isGoneWithin(tree: ProcessTree, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (let step = 10; ; step = Math.min(step * 2, 80)) {
    const left = end - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(step, left));
    if (isGone(tree)) return true;
  }
}
