/**
 * Approvals over a descriptor that the caller opened (`--approvals-fd N`), as JSON lines. We write an ApprovalRequest;
 * the answer is `{"id": <its id>, "decision": <ApprovalDecision>}`, where the decision may also be the bare name of one
 * that needs nothing else. Answers may come in any order.
 */
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import type { ApprovalDecision, ApprovalRequest, Approver } from '../../protocol/index.js';
import { messageOf, onAbort, strictJson } from '../../util/index.js';
import { ExitError } from '../exit-error.js';

const decision = z.union([
  z.literal('approved').transform((): ApprovalDecision => ({ type: 'approved' })),
  z.literal('approved_for_thread').transform((): ApprovalDecision => ({ type: 'approved_for_thread' })),
  z.literal('abort').transform((): ApprovalDecision => ({ type: 'abort' })),
  z.literal('denied').transform((): ApprovalDecision => ({ type: 'denied', by: 'client', reason: '' })),
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('approved'), note: z.string().optional(), content: z.unknown().optional() }),
    z.object({ type: z.literal('approved_for_thread'), note: z.string().optional() }),
    z.object({ type: z.literal('approved_with_rule'), prefix: z.array(z.string()).min(1) }),
    z.object({
      type: z.literal('denied'),
      by: z.enum(['person', 'client']).default('client'),
      reason: z.string().default(''),
    }),
    z.object({ type: z.literal('abort') }),
  ]),
]);

const answerLine = z.object({ id: z.string(), decision: z.unknown() });

export type ApprovalChannelOptions = {
  readonly fd: number;
  /** How long an answer is waited for. */
  readonly timeoutMs: number;
  /** What was wrong with a line of the caller. */
  readonly warn: (message: string) => void;
};

export class ApprovalChannel {
  readonly #options: ApprovalChannelOptions;
  readonly #socket: Socket;
  readonly #waiting = new Map<string, (decision: ApprovalDecision) => void>();
  #closed = false;

  /** Throws ExitError when there is no such descriptor. */
  constructor(options: ApprovalChannelOptions) {
    this.#options = options;
    this.#socket = openSocket(options.fd);
    const lines = createInterface({ input: this.#socket, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on('line', line => this.#take(line));
    // The socket's own 'close' tells of its errors.
    lines.on('error', () => {});
    this.#socket.on('error', () => {});
    this.#socket.on('end', () => this.#end());
    this.#socket.on('close', () => this.#end());
    // An idle channel must not keep the process alive.
    this.#socket.unref();
  }

  readonly approver: Approver = (request, signal) =>
    new Promise<ApprovalDecision>(resolve => {
      if (this.#closed) return resolve(closed());
      const settle = (answer: ApprovalDecision) => {
        clearTimeout(timer);
        stopListening();
        this.#waiting.delete(request.id);
        resolve(answer);
      };
      const { timeoutMs } = this.#options;
      const timer = setTimeout(() => settle(timedOut(timeoutMs)), timeoutMs);
      this.#waiting.set(request.id, settle);
      this.#send(request);
      const stopListening = onAbort(signal, () => settle({ type: 'denied', by: 'client', reason: 'interrupted' }));
    });

  close(): void {
    this.#socket.destroy();
  }

  #send(request: ApprovalRequest): void {
    this.#socket.write(`${strictJson(request)}\n`);
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      this.#options.warn(`A line on the approval channel is no JSON: ${messageOf(error)}`);
      return;
    }
    const answer = answerLine.safeParse(value);
    const settle = answer.success ? this.#waiting.get(answer.data.id) : undefined;
    if (!answer.success || !settle) {
      this.#options.warn('A line on the approval channel answers no open question; it is passed over.');
      return;
    }
    const given = decision.safeParse(answer.data.decision);
    if (given.success) return settle(given.data);
    this.#options.warn('A decision on the approval channel is none that is known; it counts as denied.');
    settle({ type: 'denied', by: 'client', reason: 'the answer was not understood' });
  }

  #end(): void {
    this.#closed = true;
    for (const settle of this.#waiting.values()) settle(closed());
  }
}

function openSocket(fd: number): Socket {
  try {
    // A pipe goes one way only.
    if (!fstatSync(fd).isSocket()) throw new Error('it is no socket');
    return new Socket({ fd, readable: true, writable: true });
  } catch (error) {
    throw new ExitError(1, `--approvals-fd ${fd} can't be used: ${messageOf(error)}. Give one end of a socket pair.`);
  }
}

function closed(): ApprovalDecision {
  return { type: 'denied', by: 'client', reason: 'the approval channel is closed' };
}

function timedOut(ms: number): ApprovalDecision {
  return { type: 'denied', by: 'timeout', reason: `no answer within ${Math.round(ms / 1000)} s` };
}
