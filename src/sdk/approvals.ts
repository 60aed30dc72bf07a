/** The library's end of the approval channel: questions to the callback, answers to the program. */
import type { Duplex } from 'node:stream';
import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';
import { LineSplitter } from '../util/index.js';
import type { ApprovalAnswer, ApprovalCallback } from './options.js';

/**
 * Answers what comes over `socket`, several questions at a time. A callback that throws ends the turn; `onFault` is told.
 * Returns the way to stop: what is still asked is then no longer wanted.
 */
export function answerApprovals(
  socket: Duplex,
  approve: ApprovalCallback,
  onFault: (error: unknown) => void,
): () => void {
  const stop = new AbortController();
  const splitter = new LineSplitter();
  const answer = async (request: ApprovalRequest): Promise<void> => {
    let decision: ApprovalDecision;
    try {
      decision = decisionOf(await approve(request, { signal: stop.signal }));
    } catch (error) {
      onFault(error);
      decision = { type: 'abort' };
    }
    if (!stop.signal.aborted) socket.write(`${JSON.stringify({ id: request.id, decision })}\n`);
  };
  socket.on('data', (piece: Buffer) => {
    for (const line of splitter.push(piece)) void answer(JSON.parse(line) as ApprovalRequest);
  });
  // The program is gone; its end tells more.
  socket.on('error', () => {});
  return () => {
    stop.abort();
    socket.destroy();
  };
}

function decisionOf(answer: ApprovalAnswer): ApprovalDecision {
  if (answer === true) return { type: 'approved' };
  if (answer === false) return { type: 'denied', by: 'person', reason: '' };
  return answer;
}
