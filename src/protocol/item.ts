/** Items: the durable things a turn produced. Ids of tool items are the call ids of the model. */

export type FileChange =
  | { type: 'add'; content: string }
  | { type: 'delete'; content: string }
  /** `unified_diff` holds hunks only, without the two file lines. */
  | { type: 'update'; unified_diff: string; move_path: string | null };

/** What a command seems to do, for display only; never used for a decision. */
export type ParsedCommand =
  | { type: 'read'; cmd: string; name: string; path: string }
  | { type: 'list_files'; cmd: string; path: string | null }
  | { type: 'search'; cmd: string; query: string | null; path: string | null }
  | { type: 'unknown'; cmd: string };

export type UserInput = { type: 'text'; text: string } | { type: 'local_image'; path: string };

export type UserMessageItem = { type: 'user_message'; id: string; content: UserInput[] };

export type AgentMessageItem = {
  type: 'agent_message';
  id: string;
  text: string;
  phase?: 'commentary' | 'final_answer';
};

export type ReasoningItem = { type: 'reasoning'; id: string; summary: string[]; raw: string[] };

export type CommandExecutionItem = {
  type: 'command_execution';
  id: string;
  process_id: string | null;
  command: string[];
  cwd: string;
  parsed: ParsedCommand[];
  source: 'agent' | 'unified_exec_startup';
  status: 'in_progress' | 'completed' | 'failed' | 'declined';
  /** Head and tail, at most 1 MiB. */
  aggregated_output: string;
  exit_code: number | null;
  duration_ms: number | null;
};

export type FileChangeItem = {
  type: 'file_change';
  id: string;
  /** Keyed by absolute path. */
  changes: Record<string, FileChange>;
  status: 'in_progress' | 'completed' | 'failed' | 'declined';
  auto_approved: boolean;
  stdout: string;
  stderr: string;
};

/** The content blocks of an MCP tool result, as the server sent them. */
export type McpToolResult = {
  content: Record<string, unknown>[];
  structured_content?: unknown;
  is_error?: boolean;
};

export type McpToolCallItem = {
  type: 'mcp_tool_call';
  id: string;
  server: string;
  tool: string;
  arguments: unknown;
  read_only: boolean;
  result: McpToolResult | null;
  error: { message: string } | null;
  status: 'in_progress' | 'completed' | 'failed';
  duration_ms: number | null;
};

export type PlanStep = { step: string; status: 'pending' | 'in_progress' | 'completed' };
export type PlanItem = { type: 'plan'; id: string; explanation: string | null; steps: PlanStep[] };

export type WebSearchItem = { type: 'web_search'; id: string; query: string; action: Record<string, unknown> };

export type ImageViewItem = { type: 'image_view'; id: string; path: string };

export type CompactionItem = { type: 'compaction'; id: string };

/** Something a person should know and that does not end the turn. */
export type WarningItem = { type: 'warning'; id: string; message: string };

export type Item =
  | UserMessageItem
  | AgentMessageItem
  | ReasoningItem
  | CommandExecutionItem
  | FileChangeItem
  | McpToolCallItem
  | PlanItem
  | WebSearchItem
  | ImageViewItem
  | CompactionItem
  | WarningItem;
