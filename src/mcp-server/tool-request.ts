/** A `tools/call` as the tools see it, whatever era it came in. */

import type { TraceContext } from '../util/index.js';
import type { JsonObject, RequestId } from './message.js';
import type { ProgressToken } from './progress.js';

export type ToolRequest = {
  readonly id: RequestId;
  readonly tool: string;
  readonly arguments: unknown;
  readonly progressToken: ProgressToken | null;
  /** Trace context of the caller. */
  readonly trace: TraceContext;
  /** The version of the protocol that was agreed on; null when that is not known. */
  readonly protocolVersion: string | null;
  /** Fires when the client cancelled the request or went away. Nothing is answered then. */
  readonly signal: AbortSignal;
  readonly client: LegacyClient | ModernClient;
};

/** A client that can be asked while its call runs. */
export type LegacyClient = {
  readonly era: 'legacy';
  /** It declared that it can show forms. */
  readonly canAsk: boolean;
  /** Sends `elicitation/create`. Never rejects. */
  readonly elicit: (params: JsonObject, limits: { signal: AbortSignal; timeoutMs: number }) => Promise<ElicitOutcome>;
};

export type ElicitOutcome =
  | { type: 'reply'; reply: unknown }
  | { type: 'timed_out' }
  /** The client answered with an error, or the connection broke. */
  | { type: 'failed'; message: string };

/** A client that is asked by a result and answers by calling again. */
export type ModernClient = {
  readonly era: 'modern';
  readonly canAsk: boolean;
  /** Keyed by question; absent in a first call. */
  readonly inputResponses: JsonObject | null;
  readonly requestState: unknown;
};

/** An error for the client itself rather than for the model; sent as a JSON-RPC error. */
export class RequestError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RequestError';
    this.code = code;
  }
}
