/**
 * The second vocabulary of this door: our events as the messages that existing clients know from `codex/event`.
 * Nothing else in the product knows these names. Deltas are not here: they are merged in `event-stream.ts`.
 */
import {
  type CommandExecutionItem,
  type Event,
  type FileChangeItem,
  fileUri,
  type HistoryItem,
  type Item,
  type McpToolCallItem,
  type TurnTimes,
  toTurnItem,
  wireDuration,
  wireMcpResult,
} from '../protocol/index.js';
import { approvalRequested } from './codex-approval-event.js';
import { codexErrorInfo } from './codex-error-info.js';
import type { CodexMessage } from './codex-message.js';
import type { JsonObject } from './message.js';
import { sessionConfigured } from './session-configured.js';

/** Events that arrive many times a second and are merged before they are sent. */
export type DeltaEvent = Extract<
  Event,
  { type: 'text.delta' | 'reasoning.delta' | 'reasoning.raw_delta' | 'command.output' }
>;
export type PlainEvent = Exclude<Event, DeltaEvent>;

export function isDelta(event: Event): event is DeltaEvent {
  return (
    event.type === 'text.delta' ||
    event.type === 'reasoning.delta' ||
    event.type === 'reasoning.raw_delta' ||
    event.type === 'command.output'
  );
}

/** Turns the events of one turn into messages, in order. Keeps what a later message repeats of an earlier event. */
export class CodexEvents {
  readonly #threadId: string;
  #turnId = '';
  /** When each unfinished item started, Unix milliseconds. */
  readonly #startedAt = new Map<string, number>();
  #lastPlan = '';

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  /** The current turn; "" before it started. */
  get turnId(): string {
    return this.#turnId;
  }

  messages(event: PlainEvent): CodexMessage[] {
    switch (event.type) {
      case 'thread.started':
        return [sessionConfigured(event.thread_id, event.settings)];
      case 'mcp_server.updated':
        return [
          {
            type: 'mcp_startup_update',
            server: event.server,
            status: { state: event.state, ...(event.error !== undefined && { error: event.error }) },
          },
        ];
      case 'mcp_servers.ready':
        return [{ type: 'mcp_startup_complete', ready: event.ready, failed: event.failed, cancelled: event.cancelled }];
      case 'turn.started':
        this.#turnId = event.turn_id;
        return [
          {
            type: 'task_started',
            turn_id: event.turn_id,
            started_at: seconds(event.started_at_ms),
            model_context_window: event.model_context_window,
            collaboration_mode_kind: 'default',
          },
        ];
      case 'history.added':
        return [{ type: 'raw_response_item', item: rawItem(event.item, this.#turnId) }];
      case 'item.started':
        return this.#itemStarted(event.item, event.at_ms);
      case 'item.updated':
        return event.item.type === 'plan' ? this.#plan(event.item) : [];
      case 'item.completed':
        return this.#itemCompleted(event.item, event.at_ms);
      case 'reasoning.section':
        return [{ type: 'agent_reasoning_section_break', item_id: event.item_id, summary_index: event.summary_index }];
      case 'command.input':
        return [terminalInteraction(event)];
      case 'approval.requested':
        return approvalRequested(event.request);
      case 'approval.decided':
      // Older clients would wait for a `hook_completed`; progress tells them as well.
      case 'hook.started':
        return [];
      case 'response.completed':
        return [{ type: 'raw_response_completed', response_id: event.response_id, token_usage: event.usage }];
      case 'usage.updated':
        return [tokenCount(event)];
      case 'diff.updated':
        return [{ type: 'turn_diff', unified_diff: event.unified_diff }];
      case 'retry':
        return [
          {
            type: 'stream_error',
            message: `Reconnecting... ${event.attempt}/${event.max}`,
            codex_error_info: { response_stream_disconnected: { http_status_code: null } },
            additional_details: event.details || event.message,
          },
        ];
      case 'context.compacted':
        return [{ type: 'context_compacted' }];
      case 'turn.completed':
        return [
          {
            type: 'task_complete',
            turn_id: event.turn_id,
            last_agent_message: event.last_message,
            ...times(event),
            time_to_first_token_ms: event.first_token_ms,
          },
        ];
      case 'turn.failed':
        return [{ type: 'error', message: event.error.message, codex_error_info: codexErrorInfo(event.error) }];
      case 'turn.aborted':
        return [{ type: 'turn_aborted', turn_id: event.turn_id, reason: 'interrupted', ...times(event) }];
    }
  }

  /** One message for everything that was merged from events like `sample`. */
  delta(sample: DeltaEvent, merged: string): CodexMessage {
    const base = { thread_id: this.#threadId, turn_id: this.#turnId, item_id: sample.item_id, delta: merged };
    switch (sample.type) {
      case 'text.delta':
        return { type: 'agent_message_content_delta', ...base };
      case 'reasoning.delta':
        return { type: 'reasoning_content_delta', ...base, summary_index: sample.summary_index };
      case 'reasoning.raw_delta':
        return { type: 'reasoning_raw_content_delta', ...base, content_index: sample.content_index };
      case 'command.output':
        return { type: 'exec_command_output_delta', call_id: sample.item_id, stream: 'stdout', chunk: merged };
    }
  }

  #itemStarted(item: Item, at: number): CodexMessage[] {
    this.#startedAt.set(item.id, at);
    const turnItem = toTurnItem(item);
    const started = turnItem ? [this.#item('item_started', turnItem, { started_at_ms: at })] : [];
    switch (item.type) {
      case 'command_execution':
        return [...started, { type: 'exec_command_begin', ...this.#command(item, { started_at_ms: at }) }];
      case 'file_change':
        return [
          ...started,
          {
            type: 'patch_apply_begin',
            call_id: item.id,
            turn_id: this.#turnId,
            auto_approved: item.auto_approved,
            changes: item.changes,
          },
        ];
      case 'mcp_tool_call':
        return [...started, { type: 'mcp_tool_call_begin', ...invocation(item) }];
      case 'web_search':
        return [...started, { type: 'web_search_begin', call_id: item.id }];
      case 'plan':
        return this.#plan(item);
      case 'user_message':
      case 'agent_message':
      case 'reasoning':
      case 'image_view':
      case 'compaction':
      case 'warning':
        return started;
    }
  }

  #itemCompleted(item: Item, at: number): CodexMessage[] {
    const startedAt = this.#startedAt.get(item.id);
    this.#startedAt.delete(item.id);
    // A command that was refused before it began has no begin and no end.
    if (item.type === 'command_execution' && item.status === 'declined' && startedAt === undefined) return [];
    const turnItem = toTurnItem(item);
    const messages: CodexMessage[] = [];
    if (turnItem) {
      const span = { started_at_ms: startedAt ?? at };
      if (startedAt === undefined) messages.push(this.#item('item_started', turnItem, span));
      messages.push(this.#item('item_completed', turnItem, { ...span, completed_at_ms: at }));
    }
    return [...messages, ...this.#outcome(item, at)];
  }

  /** The older message about a finished item. */
  #outcome(item: Item, at: number): CodexMessage[] {
    switch (item.type) {
      case 'user_message':
        return [userMessage(item.content)];
      case 'agent_message':
        return [{ type: 'agent_message', message: item.text, phase: item.phase ?? null, memory_citation: null }];
      case 'reasoning':
        return [
          ...item.summary.map(text => ({ type: 'agent_reasoning', text })),
          ...item.raw.map(text => ({ type: 'agent_reasoning_raw_content', text })),
        ];
      case 'command_execution':
        return [this.#commandEnd(item, at)];
      case 'file_change':
        return [this.#patchEnd(item)];
      case 'mcp_tool_call':
        return [mcpToolCallEnd(item)];
      case 'plan':
        return this.#plan(item);
      case 'web_search':
        return [{ type: 'web_search_end', call_id: item.id, query: item.query, action: item.action }];
      case 'image_view':
        return [{ type: 'view_image_tool_call', call_id: item.id, path: fileUri(item.path) }];
      case 'compaction':
        return [];
      case 'warning':
        return [{ type: 'warning', message: item.message }];
    }
  }

  #item(type: 'item_started' | 'item_completed', item: JsonObject, span: JsonObject): CodexMessage {
    return { type, thread_id: this.#threadId, turn_id: this.#turnId, item, ...span };
  }

  #command(item: CommandExecutionItem, when: JsonObject): JsonObject {
    return {
      call_id: item.id,
      process_id: item.process_id,
      turn_id: this.#turnId,
      ...when,
      command: item.command,
      cwd: fileUri(item.cwd),
      parsed_cmd: item.parsed,
      source: item.source,
    };
  }

  #commandEnd(item: CommandExecutionItem, at: number): CodexMessage {
    return {
      type: 'exec_command_end',
      ...this.#command(item, { completed_at_ms: at }),
      stdout: item.aggregated_output,
      stderr: '',
      aggregated_output: item.aggregated_output,
      exit_code: item.exit_code ?? -1,
      duration: wireDuration(item.duration_ms ?? 0),
      formatted_output: item.aggregated_output,
      status: item.status,
    };
  }

  #patchEnd(item: FileChangeItem): CodexMessage {
    return {
      type: 'patch_apply_end',
      call_id: item.id,
      turn_id: this.#turnId,
      stdout: item.stdout,
      stderr: item.stderr,
      success: item.status === 'completed',
      changes: item.changes,
      status: item.status,
    };
  }

  /** A plan has no item; it is sent when it differs from the one before. */
  #plan(item: Extract<Item, { type: 'plan' }>): CodexMessage[] {
    const message = {
      type: 'plan_update',
      ...(item.explanation !== null && { explanation: item.explanation }),
      plan: item.steps,
    };
    const text = JSON.stringify(message);
    if (text === this.#lastPlan) return [];
    this.#lastPlan = text;
    return [message];
  }
}

/** What the model was shown or said, without what only our own wires understand. */
function rawItem(item: HistoryItem, turnId: string): JsonObject {
  const { replay: _ours, ...shown } = item;
  return { ...shown, internal_chat_message_metadata_passthrough: { turn_id: turnId } };
}

function terminalInteraction(event: Extract<Event, { type: 'command.input' }>): CodexMessage {
  const { item_id, process_id, text } = event;
  return { type: 'terminal_interaction', call_id: item_id, process_id, stdin: text };
}

function tokenCount(event: Extract<Event, { type: 'usage.updated' }>): CodexMessage {
  const info = event.last && {
    total_token_usage: event.total,
    last_token_usage: event.last,
    model_context_window: event.model_context_window,
  };
  return { type: 'token_count', info, rate_limits: null };
}

function userMessage(content: Extract<Item, { type: 'user_message' }>['content']): CodexMessage {
  const texts = content.flatMap(part => (part.type === 'text' ? [part.text] : []));
  const images = content.flatMap(part => (part.type === 'local_image' ? [part.path] : []));
  return {
    type: 'user_message',
    message: texts.join('\n'),
    images: [],
    local_images: images,
    audio: [],
    local_audio: [],
    text_elements: [],
  };
}

function invocation(item: McpToolCallItem): JsonObject {
  return {
    call_id: item.id,
    invocation: { server: item.server, tool: item.tool, arguments: item.arguments },
    read_only_hint: item.read_only,
  };
}

function mcpToolCallEnd(item: McpToolCallItem): CodexMessage {
  const result = item.result ? { Ok: wireMcpResult(item.result) } : { Err: item.error?.message ?? 'no result' };
  return { type: 'mcp_tool_call_end', ...invocation(item), duration: wireDuration(item.duration_ms ?? 0), result };
}

function times(event: TurnTimes): JsonObject {
  return {
    started_at: seconds(event.started_at_ms),
    completed_at: seconds(event.completed_at_ms),
    duration_ms: event.completed_at_ms - event.started_at_ms,
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
