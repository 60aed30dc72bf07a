/** The seam inside this room: a wire API turns a request into a body and a stream of server-sent events into ours. */
import type { ModelError, ModelEvent, ModelRequest, ProviderSettings } from '../protocol/index.js';

/** JSON body of a request, by field. */
export type WireBody = { readonly [field: string]: unknown };

export type WireRequest = {
  /** Appended to the base URL, without a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireBody;
};

/** What is known about a request while its answer is read. */
export type WireContext = { readonly request: ModelRequest; readonly settings: ProviderSettings };

/**
 * Reads one answer. `push` takes one server-sent event, `end` the end of the stream; both return what it means. The last
 * event of an answer is `completed` or `failed`, unless `continuation` is set. No call after that. Neither throws.
 */
export interface Decoder {
  push(data: string, name?: string): ModelEvent[];
  end(): ModelEvent[];
  /** True once the answer is whole although its stream may go on (usage, end marks). */
  readonly settled: boolean;
  /** Set at the end when the provider paused: the body to send so that it goes on. */
  readonly continuation: WireBody | null;
}

export interface Wire {
  encode(context: WireContext): WireRequest;
  decode(context: WireContext, body: WireBody): Decoder;
  /**
   * A changed body when `error` says that the server refuses an optional part of this one; null when nothing can be left
   * out. Each change makes the same error impossible, so this ends.
   */
  amend(body: WireBody, error: ModelError, context: WireContext): WireBody | null;
}
