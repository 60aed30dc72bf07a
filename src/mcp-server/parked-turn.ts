import type { TurnResult } from '../agent/index.js';
import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';
import { onAbort } from '../util/index.js';
import { questionTitle } from './approval-question.js';
import { readReply } from './approval-reply.js';
import { CLIENT_CANNOT_ASK } from './elicited-approver.js';
import type { JsonObject } from './message.js';
import type { Progress } from './progress.js';
import type { RunningTurn } from './running-turn.js';
import type { ModernClient } from './tool-request.js';

/** How long is waited for further questions, so that calls running side by side ask in one round. */
const GATHER_MS = 25;

const INTERRUPTED: ApprovalDecision = { type: 'denied', by: 'policy', reason: 'the turn was interrupted' };

type OpenQuestion = {
  readonly request: ApprovalRequest;
  /** When the client got to see it; null = not yet. */
  shownAt: number | null;
  readonly settle: (decision: ApprovalDecision) => void;
};

export type Attachment = {
  readonly client: ModernClient;
  readonly signal: AbortSignal;
  readonly progress: Progress | null;
};

/**
 * A turn whose client is asked by a result: the call ends with the questions, the turn stays where it is, and the next
 * call brings the answers and waits on.
 */
export class ParkableTurn {
  readonly #questions = new Map<string, OpenQuestion>();
  #canAsk = false;
  /** Ends the attached call with the open questions; null while no call waits. */
  #park: (() => void) | null = null;
  #gathering: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  /** The one ticket that the next call must bring; null while a call waits. */
  ticket: string | null = null;

  /** The approver of the turn. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    if (!this.#canAsk) return Promise.resolve({ type: 'denied', by: 'policy', reason: CLIENT_CANNOT_ASK });
    if (signal.aborted) return Promise.resolve(INTERRUPTED);
    return new Promise(resolve => {
      const stop = onAbort(signal, () => settle(INTERRUPTED));
      const settle = (decision: ApprovalDecision) => {
        this.#questions.delete(request.id);
        stop();
        resolve(decision);
      };
      this.#questions.set(request.id, { request, shownAt: null, settle });
      this.#parkSoon();
    });
  }

  /** Waits until the turn is finished or has questions. Answers that come with the call are given first. */
  async attach(turn: RunningTurn, { client, signal, progress }: Attachment): Promise<TurnResult | 'questions'> {
    clearTimeout(this.#expiry);
    this.ticket = null;
    this.#canAsk = client.canAsk;
    turn.report(progress);
    const stop = onAbort(signal, () => turn.abort());
    const parked = new Promise<'questions'>(resolve => {
      this.#park = () => resolve('questions');
    });
    this.#answer(client);
    if (this.#questions.size > 0) this.#parkSoon();
    try {
      return await Promise.race([turn.finished, parked]);
    } finally {
      stop();
      clearTimeout(this.#gathering);
      this.#gathering = undefined;
      this.#park = null;
      turn.report(null);
    }
  }

  /** The open questions, now shown to the client. They and the turn end after `timeoutMs` without a further call. */
  show(turn: RunningTurn, timeoutMs: number, onExpired: () => void): ApprovalRequest[] {
    const now = performance.now();
    for (const question of this.#questions.values()) question.shownAt ??= now;
    this.#expiry = setTimeout(() => {
      onExpired();
      this.#expire(turn, timeoutMs);
    }, timeoutMs);
    this.#expiry.unref();
    return [...this.#questions.values()].map(({ request }) => request);
  }

  /** What is being asked, for people. */
  titles(): string[] {
    return [...this.#questions.values()].map(({ request }) => questionTitle(request));
  }

  /** Stops waiting for another call. */
  dispose(): void {
    clearTimeout(this.#expiry);
  }

  #answer({ canAsk, inputResponses }: ModernClient): void {
    for (const [id, { request, shownAt, settle }] of this.#questions) {
      const reply = replyTo(id, inputResponses);
      if (reply !== undefined && shownAt !== null) {
        settle(readReply(reply, { request, elapsedMs: performance.now() - shownAt }));
      } else if (!canAsk) settle({ type: 'denied', by: 'policy', reason: CLIENT_CANNOT_ASK });
    }
  }

  #parkSoon(): void {
    if (!this.#park) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      if (this.#questions.size > 0) this.#park?.();
    }, GATHER_MS);
  }

  /** Interrupts first: otherwise the turn would go on with the denials. */
  #expire(turn: RunningTurn, timeoutMs: number): void {
    turn.abort();
    const reason = `no answer within ${Math.round(timeoutMs / 1000)} s`;
    for (const { settle } of this.#questions.values()) settle({ type: 'denied', by: 'timeout', reason });
  }
}

function replyTo(id: string, responses: JsonObject | null): unknown {
  return responses !== null && Object.hasOwn(responses, id) ? responses[id] : undefined;
}
