/** The frame of a turn's events: numbers and times that belong to its start and end, and the fan-out to listeners. */
import type { EventSink } from '../protocol/index.js';
import { newItemId } from './ids.js';

export type TurnClock = {
  readonly startedAtMs: number;
  firstTokenMs: number | null;
  /** The prompt is in the history. */
  prompted: boolean;
  /** What the model said last in this turn; "" before it said anything. */
  lastMessage: string;
};

export function startClock(): TurnClock {
  return { startedAtMs: Date.now(), firstTokenMs: null, prompted: false, lastMessage: '' };
}

/** A sink that keeps `clock` and passes events to all `sinks`; nothing passes after the end of the turn. */
export function fanOut(clock: TurnClock, sinks: readonly EventSink[]): EventSink {
  let ended = false;
  return event => {
    if (ended) return;
    ended = event.type === 'turn.completed' || event.type === 'turn.failed' || event.type === 'turn.aborted';
    if (clock.firstTokenMs === null && isFirstToken(event.type)) clock.firstTokenMs = Date.now() - clock.startedAtMs;
    if (event.type === 'item.completed' && event.item.type === 'user_message') clock.prompted = true;
    if (event.type === 'item.completed' && event.item.type === 'agent_message') clock.lastMessage = event.item.text;
    for (const sink of sinks) sink(event);
  };
}

/** The first sign of an answer. */
export function isFirstToken(type: string): boolean {
  return type === 'text.delta' || type === 'reasoning.delta' || type === 'response.completed';
}

/** Tells the person something that is part of no answer. */
export function emitWarning(emit: EventSink, message: string): void {
  emit({ type: 'item.completed', item: { type: 'warning', id: newItemId('item'), message }, at_ms: Date.now() });
}

export function turnTimes(clock: TurnClock) {
  return { started_at_ms: clock.startedAtMs, completed_at_ms: Date.now(), first_token_ms: clock.firstTokenMs };
}
