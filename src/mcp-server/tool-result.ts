/** Results of the tools. Text comes first, because many clients show nothing else; structured content says it again. */
import type { TurnResult } from '../agent/index.js';
import type { JsonObject } from './message.js';

/** The text of an aborted turn that its call is still waiting for. */
const TURN_ABORTED = 'turn aborted';

/** A call that never got as far as a thread. */
export function refusal(message: string): JsonObject {
  return { content: [text(message)], isError: true };
}

/** `threadIdText`: whether the id is given as text too. */
export function turnResult(turn: TurnResult, threadIdText: boolean): JsonObject {
  const content = turn.status === 'completed' ? turn.content : whatWentWrong(turn);
  const changed = Object.keys(turn.changes).length > 0;
  const saidBefore = turn.content !== '' && turn.content !== content;
  return {
    content: [
      text(content),
      ...(saidBefore ? [text(`The last message before that: ${turn.content}`)] : []),
      ...(threadIdText ? [text(`threadId: ${turn.thread_id}`)] : []),
    ],
    structuredContent: {
      threadId: turn.thread_id,
      content,
      status: turn.status,
      usage: turn.usage,
      ...(changed && { changes: turn.changes }),
    },
    ...(turn.status !== 'completed' && { isError: true }),
  };
}

/** An error about a thread that exists, where there is no turn to tell of. */
export function threadError(threadId: string, message: string, threadIdText: boolean): JsonObject {
  return {
    content: [text(message), ...(threadIdText ? [text(`threadId: ${threadId}`)] : [])],
    structuredContent: { threadId, content: message },
    isError: true,
  };
}

function whatWentWrong(turn: TurnResult): string {
  if (turn.status === 'failed') return turn.error?.message ?? 'The turn failed; the cause is not known.';
  return turn.aborted_by === 'decision' ? TURN_ABORTED : `${TURN_ABORTED}: it was interrupted`;
}

function text(value: string): JsonObject {
  return { type: 'text', text: value };
}
