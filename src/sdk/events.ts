/**
 * Events and items, under the names and declared as in the Codex SDK, so that a program written for that compiles. On
 * the wire, and therefore here, three fields are null where they are declared as missing: `exit_code` of a command that
 * runs, `result` and `error` of a tool call that has none. Of a patch, `item.started` has the status `in_progress`.
 */
import type {
  JsonlAgentMessage,
  JsonlCommandExecution,
  JsonlErrorItem,
  JsonlFileChange,
  JsonlMcpToolCall,
  JsonlReasoning,
  JsonlTodoList,
  JsonlUsage,
  JsonlWebSearch,
} from '../protocol/index.js';

/** A command. `exit_code` is there when it has ended. */
export type CommandExecutionItem = Omit<JsonlCommandExecution, 'exit_code' | 'status'> & {
  exit_code?: number;
  status: 'in_progress' | 'completed' | 'failed';
};

/** The files of one patch. */
export type FileChangeItem = Omit<JsonlFileChange, 'status'> & { status: 'completed' | 'failed' };

/** A call of a tool of an MCP server. */
export type McpToolCallItem = Omit<JsonlMcpToolCall, 'result' | 'error'> & {
  result?: { content: McpContent[]; _meta?: unknown; structured_content: unknown };
  error?: { message: string };
};

type McpMeta = { _meta?: { [key: string]: unknown } };

/** A part of a tool's result, as MCP defines it. */
export type McpContent =
  | ({ type: 'text'; text: string } & McpMeta)
  | ({ type: 'image' | 'audio'; data: string; mimeType: string } & McpMeta)
  | ({
      type: 'resource_link';
      uri: string;
      name: string;
      title?: string;
      description?: string;
      mimeType?: string;
    } & McpMeta)
  | ({
      type: 'resource';
      resource: { uri: string; mimeType?: string } & McpMeta & ({ text: string } | { blob: string });
    } & McpMeta);

/** What the agent said; the last one of a turn is the answer. */
export type AgentMessageItem = JsonlAgentMessage;
export type ReasoningItem = JsonlReasoning;
export type WebSearchItem = JsonlWebSearch;
export type TodoListItem = JsonlTodoList;
/** A warning; the turn goes on. */
export type ErrorItem = JsonlErrorItem;

export type ThreadItem =
  | AgentMessageItem
  | ReasoningItem
  | CommandExecutionItem
  | FileChangeItem
  | McpToolCallItem
  | WebSearchItem
  | TodoListItem
  | ErrorItem;

/** Totals of the thread, in tokens. */
export type Usage = JsonlUsage;
export type ThreadError = { message: string };

export type ThreadStartedEvent = { type: 'thread.started'; thread_id: string };
export type TurnStartedEvent = { type: 'turn.started' };
export type TurnCompletedEvent = { type: 'turn.completed'; usage: Usage };
export type TurnFailedEvent = { type: 'turn.failed'; error: ThreadError };
export type ItemStartedEvent = { type: 'item.started'; item: ThreadItem };
export type ItemUpdatedEvent = { type: 'item.updated'; item: ThreadItem };
export type ItemCompletedEvent = { type: 'item.completed'; item: ThreadItem };
/** What ended the turn, or a request that is tried again. */
export type ThreadErrorEvent = { type: 'error'; message: string };

export type ThreadEvent =
  | ThreadStartedEvent
  | TurnStartedEvent
  | TurnCompletedEvent
  | TurnFailedEvent
  | ItemStartedEvent
  | ItemUpdatedEvent
  | ItemCompletedEvent
  | ThreadErrorEvent;
