/** How a turn ended, told twice: as an event to listeners, and as the result to the caller. */
import type { Event, TokenUsage, TurnError } from '../protocol/index.js';
import type { TurnResult } from './thread.js';
import { type TurnClock, turnTimes } from './turn-events.js';

export type TurnEnd =
  | { type: 'completed'; lastMessage: string | null }
  | { type: 'failed'; error: TurnError }
  | { type: 'aborted' };

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

/** `usage`: totals of the thread. `said`: what the model said last, for a turn that did not complete. */
export function turnResult(
  end: TurnEnd,
  ids: { readonly threadId: string; readonly turnId: string },
  more: Pick<TurnResult, 'aborted_by' | 'changes'> & { readonly usage: TokenUsage; readonly said: string },
): TurnResult {
  const { said, ...rest } = more;
  return {
    thread_id: ids.threadId,
    turn_id: ids.turnId,
    status: end.type,
    content: end.type === 'completed' ? (end.lastMessage ?? '') : said,
    error: end.type === 'failed' ? end.error : null,
    ...rest,
  };
}

export function failed(error: TurnError): TurnEnd {
  return { type: 'failed', error };
}

export function inUse(id: string, pid: number): TurnEnd {
  return failed({
    message: `Thread ${id} is in use by process ${pid}, which runs a turn of it. Reply again when that has ended.`,
    kind: 'other',
  });
}
