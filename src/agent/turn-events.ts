/** The frame of a turn's events: numbers and times that belong to its start and end, and the fan-out to listeners. */
import type { EventSink } from '../protocol/index.js';

export type TurnClock = { startedAtMs: number; firstTokenMs: number | null };

/** A sink that notes the first sign of an answer in `clock` and passes events to all `sinks`. */
export function fanOut(clock: TurnClock, sinks: readonly EventSink[]): EventSink {
  return event => {
    if (clock.firstTokenMs === null && isFirstToken(event.type)) clock.firstTokenMs = Date.now() - clock.startedAtMs;
    for (const sink of sinks) sink(event);
  };
}

/** The first sign of an answer. */
export function isFirstToken(type: string): boolean {
  return type === 'text.delta' || type === 'reasoning.delta' || type === 'response.completed';
}

export function turnTimes(clock: TurnClock) {
  return { started_at_ms: clock.startedAtMs, completed_at_ms: Date.now(), first_token_ms: clock.firstTokenMs };
}
