import { questionFor } from './approval-question.js';
import { INVALID_PARAMS, type JsonObject } from './message.js';
import type { ParkableTurn } from './parked-turn.js';
import type { Progress } from './progress.js';
import { callDigest, newTicket, type RequestState, RequestStates } from './request-state.js';
import type { RunningTurn } from './running-turn.js';
import { type ModernClient, RequestError, type ToolRequest } from './tool-request.js';
import { threadError, turnResult } from './tool-result.js';

type ModernRequest = ToolRequest & { readonly client: ModernClient };
type Entry = { readonly turn: RunningTurn; readonly parkable: ParkableTurn };

export type ParkingOptions = {
  readonly secret?: Uint8Array | undefined;
  /** How long a parked turn waits for its client. */
  readonly timeoutMs: number;
  readonly threadIdText: boolean;
};

/** The turns whose questions wait for another call, each under its thread. */
export class Parking {
  readonly #options: ParkingOptions;
  readonly #states: RequestStates;
  readonly #parked = new Map<string, Entry>();

  constructor(options: ParkingOptions) {
    this.#options = options;
    this.#states = new RequestStates(options.secret);
  }

  /** True for a call that answers questions instead of starting something. Throws for one that lost its state. */
  isRetry({ client }: ModernRequest): boolean {
    if (client.requestState !== undefined) return true;
    if (client.inputResponses === null) return false;
    throw new RequestError(INVALID_PARAMS, 'inputResponses came without the requestState they belong to.');
  }

  /** Waits for the turn on behalf of `request`: its result, or the questions to put to a person. */
  async wait(entry: Entry, request: ModernRequest, progress: Progress | null): Promise<JsonObject> {
    const { turn, parkable } = entry;
    const outcome = await parkable.attach(turn, { client: request.client, signal: request.signal, progress });
    if (outcome !== 'questions') return turnResult(outcome, this.#options.threadIdText);
    return this.#park(entry, request);
  }

  /** Goes on with a parked turn. */
  resume(request: ModernRequest, progress: Progress | null): Promise<JsonObject> {
    const verified = this.#states.verify(request.client.requestState);
    if (verified.type === 'forged') throw new RequestError(INVALID_PARAMS, 'Invalid requestState.');
    const { state } = verified;
    if (state.call !== callDigest(request.tool, request.arguments)) {
      throw new RequestError(INVALID_PARAMS, 'This requestState was given out for another call.');
    }
    const entry = this.#parked.get(state.thread);
    if (!entry || entry.parkable.ticket !== state.ticket || entry.turn.turnId !== state.turn) {
      return Promise.resolve(this.#tooLate(state, verified.type === 'expired'));
    }
    this.#parked.delete(state.thread);
    return this.wait(entry, request, progress);
  }

  /** Why a thread can't take a new prompt now; null = it can. */
  blocked(threadId: string): JsonObject | null {
    const entry = this.#parked.get(threadId);
    if (!entry) return null;
    const questions = entry.parkable.titles().join('; ');
    return threadError(
      threadId,
      `Thread ${threadId} waits for an approval: ${questions}. Answer that question first (repeat the call that returned it, with inputResponses and requestState).`,
      this.#options.threadIdText,
    );
  }

  close(): void {
    for (const { parkable } of this.#parked.values()) parkable.dispose();
    this.#parked.clear();
  }

  #park(entry: Entry, request: ModernRequest): JsonObject {
    const { turn, parkable } = entry;
    const { timeoutMs } = this.#options;
    const expires = Date.now() + timeoutMs;
    const ticket = newTicket();
    parkable.ticket = ticket;
    this.#parked.set(turn.threadId, entry);
    const questions = parkable.show(turn, timeoutMs, () => this.#parked.delete(turn.threadId));
    const state: RequestState = {
      thread: turn.threadId,
      turn: turn.turnId,
      questions: questions.map(({ id }) => id),
      call: callDigest(request.tool, request.arguments),
      ticket,
      expires,
    };
    const inputRequests = questions.map(question => [
      question.id,
      // The id beside the standard members: without it a client that gives up could never go on with the thread.
      {
        method: 'elicitation/create',
        params: { mode: 'form', ...questionFor(question), threadId: turn.threadId },
      },
    ]);
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(inputRequests),
      requestState: this.#states.sign(state),
    };
  }

  #tooLate({ thread }: RequestState, expired: boolean): JsonObject {
    const seconds = Math.round(this.#options.timeoutMs / 1000);
    const what = expired
      ? `The approval was not answered within ${seconds} s: it counts as denied, and the turn was ended.`
      : 'This approval was already answered; a requestState can be used once.';
    return threadError(thread, `${what} Continue the thread with codex-reply.`, this.#options.threadIdText);
  }
}
