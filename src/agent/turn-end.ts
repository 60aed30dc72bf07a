/** How a turn ended, told twice: as an event to listeners, and as the result to the caller. */
import type { Event, TokenUsage } from '../protocol/index.js';
import type { TurnResult } from './thread.js';
import type { TurnEnd } from './turn.js';
import { type TurnClock, turnTimes } from './turn-events.js';

export function endEvent(end: TurnEnd, turnId: string, clock: TurnClock): Event {
  const base = { turn_id: turnId, ...turnTimes(clock) };
  switch (end.type) {
    case 'completed':
      return { type: 'turn.completed', last_message: end.lastMessage, ...base };
    case 'failed':
      return { type: 'turn.failed', error: end.error, ...base };
    case 'aborted':
      return { type: 'turn.aborted', reason: 'interrupted', ...base };
  }
}

/** `usage`: totals of the thread. */
export function turnResult(
  end: TurnEnd,
  ids: { readonly threadId: string; readonly turnId: string },
  more: Pick<TurnResult, 'aborted_by' | 'changes'> & { readonly usage: TokenUsage },
): TurnResult {
  return {
    thread_id: ids.threadId,
    turn_id: ids.turnId,
    status: end.type,
    content: end.type === 'completed' ? (end.lastMessage ?? '') : end.type === 'failed' ? end.error.message : '',
    error: end.type === 'failed' ? end.error : null,
    ...more,
  };
}
