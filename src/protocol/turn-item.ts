/**
 * Items as the reference writes them: in its `item_started` / `item_completed` messages and in rollout lines. Other
 * programs read both, so names, order and omissions follow it. One mapping, used by every door that writes them.
 */
import { pathToFileURL } from 'node:url';
import type { CommandExecutionItem, FileChange, FileChangeItem, Item, McpToolCallItem, ParsedCommand } from './item.js';

/** A length of time as the reference writes it. */
export type WireDuration = { secs: number; nanos: number };

export type TurnItem =
  | { type: 'UserMessage'; id: string; content: TurnUserInput[] }
  | { type: 'AgentMessage'; id: string; content: { type: 'Text'; text: string }[]; phase?: string }
  | { type: 'Reasoning'; id: string; summary_text: string[]; raw_content: string[] }
  | ({ type: 'CommandExecution'; id: string } & CommandFields)
  | {
      type: 'FileChange';
      id: string;
      changes: Record<string, FileChange>;
      auto_approved?: boolean;
      status?: string;
      stdout?: string;
      stderr?: string;
    }
  | {
      type: 'McpToolCall';
      id: string;
      server: string;
      tool: string;
      arguments: unknown;
      readOnlyHint: boolean;
      status: 'inProgress' | 'completed' | 'failed';
      result?: WireMcpResult;
      error?: { message: string };
      duration?: WireDuration;
    }
  | { type: 'WebSearch'; id: string; query: string; action: Record<string, unknown> }
  | { type: 'ImageView'; id: string; path: string }
  | { type: 'ContextCompaction'; id: string };

export type TurnUserInput =
  | { type: 'text'; text: string; text_elements: unknown[] }
  | { type: 'local_image'; path: string };

type CommandFields = {
  process_id: string | null;
  command: string[];
  /** A `file://` URI. */
  cwd: string;
  parsed_cmd: ParsedCommand[];
  source: string;
  status: string;
  stdout?: string;
  stderr?: string;
  aggregated_output?: string;
  exit_code?: number;
  duration?: WireDuration;
  formatted_output?: string;
};

/** The content of an MCP tool result in the spelling of MCP. */
export type WireMcpResult = {
  content: Record<string, unknown>[];
  structuredContent?: unknown;
  isError?: boolean;
};

/** The item in the reference's form; null for the kinds it has no item for (plan, warning). */
export function toTurnItem(item: Item): TurnItem | null {
  switch (item.type) {
    case 'user_message':
      return { type: 'UserMessage', id: item.id, content: item.content.map(toTurnInput) };
    case 'agent_message': {
      const content = [{ type: 'Text' as const, text: item.text }];
      return { type: 'AgentMessage', id: item.id, content, ...(item.phase && { phase: item.phase }) };
    }
    case 'reasoning':
      return { type: 'Reasoning', id: item.id, summary_text: item.summary, raw_content: item.raw };
    case 'command_execution':
      return { type: 'CommandExecution', id: item.id, ...commandFields(item) };
    case 'file_change':
      return fileChange(item);
    case 'mcp_tool_call':
      return mcpToolCall(item);
    case 'web_search':
      return { type: 'WebSearch', id: item.id, query: item.query, action: item.action };
    case 'image_view':
      return { type: 'ImageView', id: item.id, path: fileUri(item.path) };
    case 'compaction':
      return { type: 'ContextCompaction', id: item.id };
    case 'plan':
    case 'warning':
      return null;
  }
}

function toTurnInput(input: { type: 'text'; text: string } | { type: 'local_image'; path: string }): TurnUserInput {
  return input.type === 'text'
    ? { type: 'text', text: input.text, text_elements: [] }
    : { type: 'local_image', path: input.path };
}

/** What a command is (while it runs) and what came of it (afterwards). */
function commandFields(item: CommandExecutionItem): CommandFields {
  const begun = {
    process_id: item.process_id,
    command: item.command,
    cwd: fileUri(item.cwd),
    parsed_cmd: item.parsed,
    source: item.source,
    status: item.status,
  };
  if (item.status === 'in_progress') return begun;
  return {
    ...begun,
    stdout: item.aggregated_output,
    stderr: '',
    aggregated_output: item.aggregated_output,
    exit_code: item.exit_code ?? -1,
    duration: wireDuration(item.duration_ms ?? 0),
    formatted_output: item.aggregated_output,
  };
}

function fileChange(item: FileChangeItem): TurnItem {
  const base = { type: 'FileChange' as const, id: item.id, changes: item.changes };
  if (item.status === 'in_progress') return { ...base, auto_approved: item.auto_approved };
  return { ...base, status: item.status, stdout: item.stdout, stderr: item.stderr };
}

function mcpToolCall(item: McpToolCallItem): TurnItem {
  const base = {
    type: 'McpToolCall' as const,
    id: item.id,
    server: item.server,
    tool: item.tool,
    arguments: item.arguments,
    readOnlyHint: item.read_only,
  };
  if (item.status === 'in_progress') return { ...base, status: 'inProgress' };
  return {
    ...base,
    status: item.status,
    ...(item.result && { result: wireMcpResult(item.result) }),
    ...(item.error && { error: item.error }),
    duration: wireDuration(item.duration_ms ?? 0),
  };
}

export function wireMcpResult(result: NonNullable<McpToolCallItem['result']>): WireMcpResult {
  return {
    content: result.content,
    ...(result.structured_content !== undefined && { structuredContent: result.structured_content }),
    ...(result.is_error !== undefined && { isError: result.is_error }),
  };
}

/** An absolute path as a `file://` URI. */
export function fileUri(path: string): string {
  return pathToFileURL(path).href;
}

/** Milliseconds (fractions allowed) as seconds and nanoseconds. */
export function wireDuration(ms: number): WireDuration {
  const nanos = Math.round(ms * 1e6);
  return { secs: Math.floor(nanos / 1e9), nanos: nanos % 1e9 };
}
