/** The seam inside this room: a wire API turns a request into a body and a stream of server-sent events into ours. */
import type { ModelError, ModelEvent, ModelRequest, ProviderSettings, TokenUsage } from '../protocol/index.js';

/** JSON body of a request, by field. */
export type WireBody = { readonly [field: string]: unknown };

export type WireRequest = {
  /** Appended to the base URL, without a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireBody;
};

/** What is known about a request while it is made and its answer is read. */
export type WireContext = {
  readonly request: ModelRequest;
  readonly settings: ProviderSettings;
  /** What this provider was found to refuse, see `Wire.lesson`. */
  readonly lessons: ReadonlySet<string>;
};

/**
 * Reads one answer. `push` takes one server-sent event, `end` the end of the stream; both return what it means. The last
 * event of an answer is `completed` or `failed`, unless `continuation` is set. No call after that. Neither throws.
 */
export interface Decoder {
  push(data: string, name?: string): ModelEvent[];
  end(): ModelEvent[];
  /** True once the answer is whole although its stream may go on (usage, end marks). */
  readonly settled: boolean;
  /** Set at the end when the provider paused. */
  readonly continuation: Continuation | null;
}

/** What is sent so that a paused answer goes on, and the tokens it has used so far. */
export type Continuation = { readonly body: WireBody; readonly usage: TokenUsage | null };

export interface Wire {
  encode(context: WireContext): WireRequest;
  /** `body` is the one that was sent; `used`, what earlier parts of a paused answer used. */
  decode(context: WireContext, body: WireBody, used: TokenUsage | null): Decoder;
  /**
   * What `error` teaches about this provider, as a word that `encode` understands: a part of the request that it refuses
   * and that can be left out. null when nothing can be done, or the lesson was learnt before. Lessons that begin with
   * `once:` hold for this request only.
   */
  lesson(error: ModelError, context: WireContext): string | null;
}
