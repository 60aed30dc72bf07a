/** Cutting text to a budget, keeping head and tail. Sizes are UTF-8 bytes; characters are never split. */

export type Truncated = { text: string; removed_bytes: number };

/** Keeps the first and last half of `budget` bytes and puts `marker(removed)` between them. */
export function truncateMiddle(text: string, budget: number, marker: (removed: number) => string): Truncated {
  const total = Buffer.byteLength(text);
  if (total <= budget) return { text, removed_bytes: 0 };
  const bytes = Buffer.from(text);
  const half = Math.floor(budget / 2);
  const head = utf8Floor(bytes, half);
  const tail = utf8Ceil(bytes, total - (budget - half));
  const removed = tail - head;
  return {
    text: `${bytes.toString('utf8', 0, head)}${marker(removed)}${bytes.toString('utf8', tail)}`,
    removed_bytes: removed,
  };
}

/** Tokens by the rule of thumb of four bytes each, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** The largest character boundary at or below `at`. */
function utf8Floor(bytes: Buffer, at: number): number {
  let i = at;
  while (i > 0 && isContinuation(bytes[i])) i--;
  return i;
}

/** The smallest character boundary at or above `at`. */
function utf8Ceil(bytes: Buffer, at: number): number {
  let i = at;
  while (i < bytes.length && isContinuation(bytes[i])) i++;
  return i;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
