/**
 * History: what the model is shown. The form is that of the OpenAI Responses API (input items); it is also what a
 * rollout stores as `response_item`. Every wire API converts from it.
 */

export type WireApi = 'responses' | 'chat' | 'messages';

export type ContentPart =
  | { type: 'input_text'; text: string }
  | { type: 'output_text'; text: string }
  /** `image_url` is a data URL. */
  | { type: 'input_image'; image_url: string; detail?: string };

export type MessageRole = 'developer' | 'user' | 'assistant' | 'system';

/**
 * What one wire must get back verbatim and no other wire understands (thinking blocks with signatures,
 * `reasoning_content`, thought signatures). `model` is the model that produced it: replayed only to the same family.
 */
export type Replay = { readonly wire: WireApi; readonly model: string; readonly data: unknown };

type Base = { id?: string; replay?: Replay };

export type MessageItem = Base & {
  type: 'message';
  role: MessageRole;
  content: ContentPart[];
  phase?: 'commentary' | 'final_answer';
};

export type ReasoningHistoryItem = Base & {
  type: 'reasoning';
  summary: { type: 'summary_text'; text: string }[];
  /** Raw reasoning text, where a provider shows it. */
  content?: { type: 'reasoning_text'; text: string }[] | null;
  encrypted_content?: string | null;
};

export type FunctionCallItem = Base & {
  type: 'function_call';
  call_id: string;
  name: string;
  namespace?: string;
  /** JSON text exactly as the model wrote it; may be invalid JSON. */
  arguments: string;
};

export type CustomToolCallItem = Base & { type: 'custom_tool_call'; call_id: string; name: string; input: string };

export type ToolOutput = string | ContentPart[];

export type FunctionCallOutputItem = Base & { type: 'function_call_output'; call_id: string; output: ToolOutput };

export type CustomToolCallOutputItem = Base & { type: 'custom_tool_call_output'; call_id: string; output: ToolOutput };

/** Items that a provider hosts or that come from other programs' rollouts; kept and replayed as they are. */
export type OpaqueItem = Base & {
  type:
    | 'web_search_call'
    | 'local_shell_call'
    | 'tool_search_call'
    | 'tool_search_output'
    | 'image_generation_call'
    | 'compaction';
  [key: string]: unknown;
};

export type ToolCallItem = FunctionCallItem | CustomToolCallItem;
export type ToolCallOutputItem = FunctionCallOutputItem | CustomToolCallOutputItem;
export type HistoryItem = MessageItem | ReasoningHistoryItem | ToolCallItem | ToolCallOutputItem | OpaqueItem;

/** All counts are tokens. `cached_input_tokens` is a part of `input_tokens` on every wire. */
export type TokenUsage = {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_input_tokens: number;
  output_tokens: number;
  reasoning_output_tokens: number;
  total_tokens: number;
};

export const NO_USAGE: TokenUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
};

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    cache_write_input_tokens: a.cache_write_input_tokens + b.cache_write_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_output_tokens: a.reasoning_output_tokens + b.reasoning_output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}
