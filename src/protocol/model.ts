/** The seam between the agent and a model provider: one request, a stream of events. */
import type { TurnErrorKind } from './event.js';
import type { HistoryItem, TokenUsage, WireApi } from './history.js';

/** JSON Schema of a tool's arguments; the root is always `type: "object"`. */
export type JsonSchema = { [key: string]: unknown };

/** A tool as it is offered to a model. Names match `[A-Za-z_][A-Za-z0-9_-]{0,63}`. */
export type ToolSpec =
  | { type: 'function'; name: string; description: string; parameters: JsonSchema }
  /** A freeform tool whose input is one text in a grammar; wires without such tools offer `{input: string}`. */
  | { type: 'custom'; name: string; description: string; grammar: { syntax: 'lark'; definition: string } }
  /** Hosted by the provider; only wires that know it send it. */
  | { type: 'web_search'; external_web_access: boolean };

/** `[model_providers.<id>]` after defaults; how to reach one service. Secrets are read when a request is made. */
export type ProviderSettings = {
  readonly id: string;
  readonly name: string;
  /** Without a trailing slash; the wire's path is appended. */
  readonly base_url: string;
  readonly wire_api: WireApi;
  readonly env_key?: string;
  readonly env_key_instructions?: string;
  readonly experimental_bearer_token?: string;
  readonly auth?: {
    readonly command: string;
    readonly args: readonly string[];
    readonly cwd?: string;
    readonly timeout_ms: number;
    readonly refresh_interval_ms: number;
  };
  readonly http_headers: Readonly<Record<string, string>>;
  /** Header name -> name of the environment variable that holds its value. */
  readonly env_http_headers: Readonly<Record<string, string>>;
  readonly query_params: Readonly<Record<string, string>>;
  readonly request_max_retries: number;
  readonly stream_max_retries: number;
  readonly stream_idle_timeout_ms: number;
};

/** What is known about a model: the catalogue entry, or a cautious default with `known: false`. */
export type ModelInfo = {
  readonly id: string;
  readonly known: boolean;
  /** Tokens. */
  readonly context_window: number;
  /** Tokens; null = not known, nothing is sent. */
  readonly max_output_tokens: number | null;
  readonly images: boolean;
  readonly parallel_tool_calls: boolean;
  /** True when the model takes freeform (custom, grammar) tools on the Responses wire. */
  readonly custom_tools: boolean;
  /** Values of `model_reasoning_effort` that may be sent; empty = none is sent. */
  readonly reasoning_efforts: readonly string[];
  readonly default_reasoning_effort: string | null;
  readonly reasoning_summaries: boolean;
  readonly verbosity: boolean;
  /** USD per million tokens, where known. */
  readonly price: { readonly input: number; readonly cached_input: number; readonly output: number } | null;
};

export type ModelRequest = {
  readonly model: ModelInfo;
  readonly instructions: string;
  readonly input: readonly HistoryItem[];
  readonly tools: readonly ToolSpec[];
  readonly parallel_tool_calls: boolean;
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null };
  readonly verbosity: 'low' | 'medium' | 'high' | null;
  readonly service_tier: string | null;
  /** A JSON Schema the final answer must match. */
  readonly output_schema: JsonSchema | null;
  readonly thread_id: string;
  readonly turn_id: string;
  /** Grows by one at each compaction; part of the window id header. */
  readonly window: number;
  /** Extra HTTP headers of this request (trace context). */
  readonly headers: Readonly<Record<string, string>>;
};

/** An error of a model request. `message` is for people: status, URL without query, the provider's own text. */
export type ModelError = {
  readonly message: string;
  readonly kind: TurnErrorKind;
  readonly http_status?: number;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
  /** What the provider asked to wait, milliseconds. */
  readonly retry_after_ms?: number;
};

export type ModelEvent =
  /** Headers arrived. */
  | { type: 'started' }
  | { type: 'item.started'; item_id: string; kind: 'message' | 'reasoning' }
  | { type: 'text.delta'; item_id: string; delta: string }
  | { type: 'reasoning.delta'; item_id: string; summary_index: number; delta: string }
  | { type: 'reasoning.section'; item_id: string; summary_index: number }
  | { type: 'reasoning.raw_delta'; item_id: string; content_index: number; delta: string }
  /** A whole item: a message, reasoning, or a tool call whose arguments arrived completely. */
  | { type: 'item.completed'; item: HistoryItem }
  /** The HTTP request is sent again after `delay_ms` (nothing had been received). */
  | { type: 'retry'; attempt: number; max: number; error: ModelError; delay_ms: number }
  /** `truncated`: the output limit cut the answer. Its cut tool calls were not delivered as items. */
  | { type: 'completed'; response_id: string; usage: TokenUsage | null; truncated: boolean }
  | { type: 'failed'; error: ModelError };

/**
 * One service. `stream` never throws and never rejects: the last event is `completed` or `failed`; when `signal` fires
 * the connection is closed at once and the stream ends with `failed` (kind `other`, not retryable).
 */
export interface Provider {
  readonly settings: ProviderSettings;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
