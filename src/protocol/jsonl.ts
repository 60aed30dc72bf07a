/**
 * What `exec --json` prints, one object per line, and the library hands out: the vocabulary of codex exec and its SDK.
 * Programs depend on names, order of fields and nulls, so nothing here changes but by addition.
 */

export type JsonlEvent =
  /** Always the first line; also of a thread that is resumed. */
  | { type: 'thread.started'; thread_id: string }
  | { type: 'turn.started' }
  | { type: 'turn.completed'; usage: JsonlUsage }
  | { type: 'turn.failed'; error: { message: string } }
  | { type: 'item.started' | 'item.updated' | 'item.completed'; item: JsonlItem }
  /** What ended the turn, or a request that is tried again. */
  | { type: 'error'; message: string };

/** Totals of the thread, in tokens. */
export type JsonlUsage = {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_input_tokens: number;
  output_tokens: number;
  reasoning_output_tokens: number;
};

/** `id` is `item_N`; N counts from 0 in each process. */
export type JsonlItem =
  | JsonlAgentMessage
  | JsonlReasoning
  | JsonlCommandExecution
  | JsonlFileChange
  | JsonlMcpToolCall
  | JsonlWebSearch
  | JsonlTodoList
  | JsonlErrorItem;

export type JsonlAgentMessage = { id: string; type: 'agent_message'; text: string };

/** The parts of the summary, joined by line ends. */
export type JsonlReasoning = { id: string; type: 'reasoning'; text: string };

export type JsonlCommandExecution = {
  id: string;
  type: 'command_execution';
  /** The words of the command, quoted as for a shell. */
  command: string;
  /** Standard output and error together. */
  aggregated_output: string;
  /** Null while it runs. */
  exit_code: number | null;
  status: 'in_progress' | 'completed' | 'failed' | 'declined';
};

export type JsonlFileChange = {
  id: string;
  type: 'file_change';
  /** Absolute paths. */
  changes: { path: string; kind: 'add' | 'delete' | 'update' }[];
  status: 'in_progress' | 'completed' | 'failed';
};

export type JsonlMcpToolCall = {
  id: string;
  type: 'mcp_tool_call';
  server: string;
  tool: string;
  arguments: unknown;
  /** Also of a call that the tool itself calls failed; null while it runs and when there was no result. */
  result: { content: Record<string, unknown>[]; structured_content: unknown } | null;
  error: { message: string } | null;
  status: 'in_progress' | 'completed' | 'failed';
};

export type JsonlWebSearch = { id: string; type: 'web_search'; query: string; action: Record<string, unknown> };

/** The plan: started with its first version, updated by later ones, completed at the end of the turn. */
export type JsonlTodoList = { id: string; type: 'todo_list'; items: { text: string; completed: boolean }[] };

/** A warning; the turn goes on. */
export type JsonlErrorItem = { id: string; type: 'error'; message: string };
