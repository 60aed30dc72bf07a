import type { Thread, TurnResult } from '../agent/index.js';
import type { ApprovalDecision, ApprovalRequest, Approver, Event } from '../protocol/index.js';
import { messageOf, stackOf } from '../util/index.js';
import type { EventStream } from './event-stream.js';
import type { Progress } from './progress.js';
import type { ToolRequest } from './tool-request.js';

export type RunningTurnOptions = {
  readonly thread: Thread;
  readonly prompt: string;
  readonly trace: ToolRequest['trace'];
  readonly ask: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>;
  /** null where the client gets no events. */
  readonly events: EventStream | null;
  readonly log: (message: string) => void;
  /** What the thread warns of, where there are no events. */
  readonly warn: (text: string) => void;
};

/** One turn that a call started. Its client may leave and come back (a parked turn), so progress can be exchanged. */
export class RunningTurn {
  readonly threadId: string;
  /** Rejects only when we are wrong. */
  readonly finished: Promise<TurnResult>;
  readonly #options: RunningTurnOptions;
  readonly #controller = new AbortController();
  #progress: Progress | null = null;
  #turnId = '';

  constructor(options: RunningTurnOptions) {
    this.#options = options;
    this.threadId = options.thread.id;
    this.finished = this.#run();
    // Whoever waits sees the error; nobody has to wait.
    this.finished.catch((error: unknown) => options.log(`turn: ${messageOf(error)}`));
  }

  /** "" until the turn has begun (it may wait behind another one). */
  get turnId(): string {
    return this.#turnId;
  }

  abort(): void {
    this.#controller.abort();
  }

  /** From now on progress goes here; null = nowhere. */
  report(progress: Progress | null): void {
    this.#progress = progress;
    if (progress) progress.cwd = this.#options.thread.settings.cwd;
  }

  async #run(): Promise<TurnResult> {
    const { thread, prompt, trace, events } = this.#options;
    try {
      return await thread.run({
        input: [{ type: 'text', text: prompt }],
        approver: this.#approver,
        signal: this.#controller.signal,
        onEvent: event => this.#onEvent(event),
        trace,
      });
    } finally {
      events?.close();
    }
  }

  readonly #approver: Approver = async (request, signal) => {
    try {
      return await this.#options.ask(request, signal);
    } catch (error) {
      this.#options.log(`approval: ${stackOf(error)}`);
      return { type: 'denied', by: 'policy', reason: `asking failed: ${messageOf(error)}` };
    }
  };

  /** For whoever gets no events, the log is the only place left. */
  #passOnWarning(event: Event): void {
    if (event.type === 'item.completed' && event.item.type === 'warning') this.#options.warn(event.item.message);
  }

  #onEvent(event: Event): void {
    if (event.type === 'turn.started') this.#turnId = event.turn_id;
    try {
      this.#progress?.note(event);
      if (this.#options.events) this.#options.events.push(event);
      else this.#passOnWarning(event);
    } catch (error) {
      // A listener must not end the turn.
      this.#options.log(`event ${event.type}: ${stackOf(error)}`);
    }
  }
}
