/** `interpreter threads show ID --timing`: where the time of each turn went. */
import { readRolloutText } from '../rollout/index.js';
import { isObject } from '../util/index.js';
import type { ThreadsPlace } from './all-threads.js';
import type { Output } from './output.js';
import { refusing } from './refusing.js';
import { resolveThread } from './resolve-thread.js';
import { TIME_KINDS, type TimeSpan, type TurnTime, timeShares } from './time-shares.js';
import { timingText } from './timing-text.js';

/** Prints a table with bars for each turn, or a JSON array. `id`: a thread id or its beginning. Returns the exit status. */
export async function showTiming(
  place: ThreadsPlace,
  id: string,
  options: { readonly json: boolean; readonly columns?: number },
  output: Output,
): Promise<number> {
  return refusing(output, async () => {
    const file = await resolveThread(place.home, id);
    const turns = readTimes(await readRolloutText(file.path));
    if (options.json) output.out(`${JSON.stringify(turns, null, 2)}\n`);
    else if (turns.length === 0) output.err(`Thread ${file.thread_id} has no turns yet.\n`);
    else output.out(timingText(turns, options.columns ?? 80));
    return 0;
  });
}

/** The turns of a rollout, in order. Lines that can't be read are passed over. */
function readTimes(rollout: string): TurnTime[] {
  const turns: OpenTurn[] = [];
  for (const line of rollout.split('\n')) {
    const parsed = parse(line);
    if (parsed !== null) take(parsed, turns);
  }
  return turns.map(toTime);
}

type Fields = { readonly [key: string]: unknown };
type Line = { readonly timestamp: string | null; readonly type: unknown; readonly payload: Fields };

type OpenTurn = {
  readonly number: number;
  readonly id: string;
  readonly startedAt: string | null;
  status: TurnTime['status'];
  durationMs: number | null;
  lastLineAt: string | null;
  measured: readonly TimeSpan[] | null;
  /** Of items, for turns that were not measured. Absolute times. */
  readonly items: { name: string; start: number; end: number }[];
};

function take({ timestamp, type, payload }: Line, turns: OpenTurn[]): void {
  const turn = turns.at(-1);
  if (type === 'event_msg' && (payload['type'] === 'task_started' || payload['type'] === 'turn_started')) {
    turns.push({
      number: turns.length + 1,
      id: text(payload['turn_id']),
      startedAt: timestamp,
      status: 'running',
      durationMs: null,
      lastLineAt: timestamp,
      measured: null,
      items: [],
    });
  } else if (turn !== undefined) {
    turn.lastLineAt = timestamp ?? turn.lastLineAt;
    if (type === 'event_msg') takeEvent(payload, turn);
    if (type === 'interpreter' && payload['kind'] === 'timing') takeTiming(payload, turn);
  }
}

function takeEvent(payload: Fields, turn: OpenTurn): void {
  switch (payload['type']) {
    case 'task_complete':
    case 'turn_complete':
      turn.status = isObject(payload['error']) ? 'failed' : 'completed';
      turn.durationMs ??= number(payload['duration_ms']);
      return;
    case 'turn_aborted':
      turn.status = 'aborted';
      turn.durationMs ??= number(payload['duration_ms']);
      return;
    case 'item_completed': {
      const item = isObject(payload['item']) ? payload['item'] : {};
      const [start, end] = [number(payload['started_at_ms']), number(payload['completed_at_ms'])];
      if (start !== null && end !== null && TOOL_ITEMS.has(text(item['type']))) {
        turn.items.push({ name: text(item['type']), start, end });
      }
      return;
    }
    default:
      return;
  }
}

const TOOL_ITEMS = new Set(['CommandExecution', 'FileChange', 'McpToolCall', 'WebSearch', 'ImageView']);

function takeTiming(payload: Fields, turn: OpenTurn): void {
  const spans = Array.isArray(payload['spans']) ? payload['spans'] : [];
  turn.durationMs = number(payload['duration_ms']);
  turn.measured = spans.flatMap((span: unknown) => {
    if (!isObject(span)) return [];
    const kind = TIME_KINDS.find(known => known === span['kind']);
    const [start, duration] = [number(span['start_ms']), number(span['duration_ms'])];
    if (kind === undefined || start === null || duration === null) return [];
    return [{ kind, name: text(span['name']), start_ms: start, duration_ms: duration }];
  });
}

function toTime(turn: OpenTurn): TurnTime {
  const startMs = Date.parse(turn.startedAt ?? '');
  const soFar = Date.parse(turn.lastLineAt ?? '') - startMs;
  const duration = turn.durationMs ?? (Number.isNaN(soFar) ? 0 : soFar);
  const spans =
    turn.measured ??
    turn.items.map(({ name, start, end }) => ({
      kind: 'tool' as const,
      name,
      start_ms: start - startMs,
      duration_ms: end - start,
    }));
  return {
    turn: turn.number,
    turn_id: turn.id,
    status: turn.status,
    started_at: turn.startedAt,
    duration_ms: duration,
    measured: turn.measured !== null,
    shares_ms: timeShares(spans, duration),
    spans,
  };
}

function parse(line: string): Line | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // A torn or damaged line says nothing about time.
    return null;
  }
  if (!isObject(value) || !isObject(value['payload'])) return null;
  const { timestamp, type, payload } = value;
  return { timestamp: typeof timestamp === 'string' ? timestamp : null, type, payload };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
