/** The known word closest to a mistyped one. */

/** A word of `known` that `typed` was likely meant to be, or null. Case and `-` for `_` count as no mistake. */
export function nearestKey(typed: string, known: Iterable<string>): string | null {
  const wanted = plain(typed);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const distance = startsAlike(wanted, plain(candidate)) ? 1 : editDistance(wanted, plain(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
}

/** `sandbox` for `sandbox_mode`. */
function startsAlike(short: string, long: string): boolean {
  return short.length >= 4 && long.startsWith(`${short}_`);
}

/** Insertions, deletions, replacements and swaps of neighbours; `limit` when it is reached. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let d = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, at(before, j - 2) + 1);
      row.push(d);
    }
    before = above;
    above = row;
  }
  return Math.min(limit, at(above, b.length));
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
