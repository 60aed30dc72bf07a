/** Divides the time of a turn: each moment belongs to one kind of work, so that the shares add up to the whole. */

export const TIME_KINDS = ['model', 'tool', 'approval', 'hook', 'servers'] as const;
export type TimeKind = (typeof TIME_KINDS)[number];

/** `start_ms` counts from the start of the turn. */
export type TimeSpan = {
  readonly kind: TimeKind;
  readonly name: string;
  readonly start_ms: number;
  readonly duration_ms: number;
};

/** Milliseconds. `own`: what is left, our own work. */
export type TimeShares = Record<TimeKind | 'own', number>;

export type TurnTime = {
  /** Counted from 1. */
  readonly turn: number;
  readonly turn_id: string;
  /** `running`: it has no end, or its process died. */
  readonly status: 'completed' | 'failed' | 'aborted' | 'running';
  /** ISO 8601. */
  readonly started_at: string | null;
  readonly duration_ms: number;
  /** False: written by a program that notes no times of model requests; what is not a tool counts as own. */
  readonly measured: boolean;
  readonly shares_ms: TimeShares;
  readonly spans: readonly TimeSpan[];
};

/**
 * Where several things happen at once, the model comes first: it would have taken that long anyway. A tool call counts
 * as tool while it works, as approval while it waits for a person, and as hook while hooks look at it.
 */
export function timeShares(spans: readonly TimeSpan[], totalMs: number): TimeShares {
  const shares: TimeShares = { model: 0, tool: 0, approval: 0, hook: 0, servers: 0, own: 0 };
  const running: Record<TimeKind, number> = { model: 0, tool: 0, approval: 0, hook: 0, servers: 0 };
  let before = 0;
  for (const { at, kind, change } of edges(spans, totalMs)) {
    shares[kindNow(running)] += at - before;
    before = at;
    running[kind] += change;
  }
  shares[kindNow(running)] += totalMs - before;
  return shares;
}

type Edge = { at: number; kind: TimeKind; change: 1 | -1 };

function edges(spans: readonly TimeSpan[], totalMs: number): Edge[] {
  const within = (ms: number) => Math.min(totalMs, Math.max(0, ms));
  return spans
    .flatMap(({ kind, start_ms: start, duration_ms: duration }): Edge[] => [
      { at: within(start), kind, change: 1 },
      { at: within(start + duration), kind, change: -1 },
    ])
    .sort((a, b) => a.at - b.at);
}

function kindNow(running: Record<TimeKind, number>): keyof TimeShares {
  if (running.model > 0) return 'model';
  if (running.tool > running.approval + running.hook) return 'tool';
  if (running.approval > 0) return 'approval';
  if (running.hook > 0) return 'hook';
  return running.servers > 0 ? 'servers' : 'own';
}
