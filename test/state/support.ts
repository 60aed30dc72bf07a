import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ThreadSummary } from '../../src/protocol/index.js';
import { heldThreads, listRollouts, summarizeRollout } from '../../src/rollout/index.js';
import { openThreadIndex, type RolloutSource, type ThreadIndex } from '../../src/state/index.js';

export * from './write-thread.js';

export function tempHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'state-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** The rollouts of a home, and how many of them were read. */
export class CountedRollouts implements RolloutSource {
  reads = 0;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  list() {
    return listRollouts(this.#home);
  }

  running() {
    return heldThreads(this.#home);
  }

  summarize(file: Parameters<RolloutSource['summarize']>[0]): Promise<ThreadSummary | null> {
    this.reads++;
    return summarizeRollout(file);
  }
}

export type Opened = { index: ThreadIndex; rollouts: CountedRollouts; warnings: string[] };

/** An index as a process of its own would open it; closed when the test ends. */
export function openIndex(home: string): Opened {
  const rollouts = new CountedRollouts(home);
  const warnings: string[] = [];
  const index = openThreadIndex({ dir: home, rollouts, warn: message => warnings.push(message) });
  onTestFinished(() => index.close());
  return { index, rollouts, warnings };
}

export const titles = (threads: readonly ThreadSummary[]) => threads.map(thread => thread.title);
