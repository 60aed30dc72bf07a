/** How long to wait before a request is sent again. All times are milliseconds. */

/** Longer than this nobody waits inside a turn: the error is then final and says how long it would take. */
export const LONGEST_WAIT_MS = 120_000;

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterHeader(headers: Readonly<Record<string, string>>, now = Date.now()): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = headers['retry-after']?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "try again in 1.5s", "retry in 20 ms", "try again in 1m30s", "in 2 minutes". */
export function retryAfterText(text: string): number | undefined {
  const hint = /\b(?:try again|retry)(?:ing)? (?:in|after) ((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+)/i.exec(text)?.[1];
  if (hint === undefined) return undefined;
  let total: number | undefined;
  for (const [, amount, word] of hint.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const unit = unitOf(word ?? '');
    if (unit === undefined) break;
    total = (total ?? 0) + Number(amount) * unit;
  }
  return total;
}

/** A duration as JSON APIs write it: `"17s"`, `"0.5s"`. */
export function durationText(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)s$/.exec(text);
  return match ? Number(match[1]) * 1000 : undefined;
}

function unitOf(word: string): number | undefined {
  const lower = word.toLowerCase();
  if (lower.startsWith('ms') || lower.startsWith('milli')) return UNITS.ms;
  const unit = /^(?:(s)|(m)|(h))(?:ec|in|our|r)?/.exec(lower);
  return unit ? UNITS[unit[1] ?? unit[2] ?? unit[3] ?? ''] : undefined;
}
