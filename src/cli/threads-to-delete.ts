/** Which threads go when some are named, old ones are to go, or all of them are to fit into a size. */
import type { ThreadSummary } from '../protocol/index.js';

export type SizedThread = ThreadSummary & { readonly bytes: number };

export type DeletionRules = {
  /** Threads last used before this time go. */
  readonly before_ms?: number;
  /** The threads used last stay as long as they fit. */
  readonly max_total_bytes?: number;
};

export type Deletion = {
  /** Ids, oldest first. */
  readonly chosen: string[];
  /** Threads that a rule or a name meant and that must stay. */
  readonly kept: { readonly id: string; readonly reason: string }[];
};

/** `threads`: all of them, newest first. `named` ids may lack a thread that lists can show (a damaged file). */
export function toDelete(threads: readonly SizedThread[], named: readonly string[], rules: DeletionRules): Deletion {
  const meant = new Set([...named, ...tooOld(threads, rules), ...overTheSize(threads, rules)]);
  const kept = new Map<string, string>();
  for (const thread of threads) {
    if (meant.has(thread.id) && thread.status === 'running') {
      kept.set(thread.id, `it is in use by process ${thread.runner_pid ?? 'unknown'}`);
    }
  }
  // A fork that stays keeps the thread it builds on, which may itself be a fork.
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    for (const fork of threads) {
      const base = fork.history_base_id;
      if (base === null || !meant.has(base) || kept.has(base)) continue;
      if (!meant.has(fork.id) || kept.has(fork.id))
        kept.set(base, `its fork ${fork.id} builds on it; delete that first`);
    }
  }
  const listed = threads.map(thread => thread.id).reverse();
  const unlisted = named.filter(id => !listed.includes(id));
  return {
    chosen: [...listed, ...unlisted].filter(id => meant.has(id) && !kept.has(id)),
    kept: [...kept].map(([id, reason]) => ({ id, reason })),
  };
}

function tooOld(threads: readonly SizedThread[], { before_ms: before }: DeletionRules): string[] {
  if (before === undefined) return [];
  return threads.filter(thread => thread.updated_at_ms < before).map(thread => thread.id);
}

function overTheSize(threads: readonly SizedThread[], { max_total_bytes: max }: DeletionRules): string[] {
  if (max === undefined) return [];
  let total = 0;
  return threads
    .filter(thread => {
      total += thread.bytes;
      return total > max;
    })
    .map(thread => thread.id);
}

const AGE_UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const SIZE_UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3, tb: 1024 ** 4 } as const;

/** "90m", "12h", "30d", "8w" in milliseconds; null for anything else. */
export function parseAge(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*([mhdw])$/i.exec(text.trim()) ?? [];
  return number === undefined || unit === undefined
    ? null
    : Number(number) * AGE_UNITS[unit.toLowerCase() as keyof typeof AGE_UNITS];
}

/** "500MB", "2 gb", "4096" (bytes) in bytes; null for anything else. */
export function parseSize(text: string): number | null {
  const [, number, unit = 'b'] = /^(\d+(?:\.\d+)?)\s*([kmgt]?b)?$/i.exec(text.trim()) ?? [];
  return number === undefined
    ? null
    : Math.floor(Number(number) * SIZE_UNITS[unit.toLowerCase() as keyof typeof SIZE_UNITS]);
}
