/** Events: facts about a thread, turn or item, in order. Every front door and the rollout listen to these alone. */
import type { ApprovalRequest } from './approval.js';
import type { HistoryItem, TokenUsage } from './history.js';
import type { Item } from './item.js';
import type { ApprovalPolicy, SandboxPolicy } from './policy.js';
import type { HookEventName } from './settings.js';

/** Why a turn failed, for programs. `message` of the error is for people. */
export type TurnErrorKind =
  | 'context_window_exceeded'
  | 'usage_limit_exceeded'
  | 'rate_limited'
  | 'server_overloaded'
  | 'unauthorized'
  | 'bad_request'
  | 'internal_server_error'
  | 'connection_failed'
  | 'stream_disconnected'
  | 'too_many_attempts'
  | 'sandbox_error'
  | 'configuration'
  | 'other';

export type TurnError = { message: string; kind: TurnErrorKind; http_status?: number; details?: string };

/** The settings a thread runs with; what `thread.started` shows and the rollout keeps. */
export type ThreadSettings = {
  model: string;
  model_provider: string;
  cwd: string;
  approval_policy: ApprovalPolicy;
  sandbox_policy: SandboxPolicy;
  reasoning_effort: string | null;
  rollout_path: string | null;
};

export type McpServerState = 'starting' | 'ready' | 'failed' | 'cancelled';

export type Event =
  | { type: 'thread.started'; thread_id: string; settings: ThreadSettings }
  | { type: 'mcp_server.updated'; server: string; state: McpServerState; error?: string }
  | { type: 'mcp_servers.ready'; ready: string[]; failed: { server: string; error: string }[]; cancelled: string[] }
  | { type: 'turn.started'; turn_id: string; started_at_ms: number; model_context_window: number | null }
  /** A history item was added: prompts, context, model output, tool output. */
  | { type: 'history.added'; item: HistoryItem }
  | { type: 'item.started'; item: Item; at_ms: number }
  | { type: 'item.updated'; item: Item; at_ms: number }
  | { type: 'item.completed'; item: Item; at_ms: number }
  | { type: 'text.delta'; item_id: string; delta: string }
  | { type: 'reasoning.delta'; item_id: string; summary_index: number; delta: string }
  | { type: 'reasoning.section'; item_id: string; summary_index: number }
  | { type: 'reasoning.raw_delta'; item_id: string; content_index: number; delta: string }
  /** Base64 of the bytes as they came; stdout and stderr are merged. */
  | { type: 'command.output'; item_id: string; chunk: string }
  /** Input written to a running command. */
  | { type: 'command.input'; item_id: string; process_id: string; text: string }
  | { type: 'approval.requested'; request: ApprovalRequest }
  | { type: 'approval.decided'; request_id: string; decision: 'approved' | 'denied' | 'abort' }
  | { type: 'response.completed'; response_id: string; usage: TokenUsage | null }
  | { type: 'usage.updated'; last: TokenUsage | null; total: TokenUsage; model_context_window: number | null }
  | { type: 'diff.updated'; unified_diff: string }
  /** A hook runs that has something to say about itself to whoever waits. */
  | { type: 'hook.started'; hook: HookEventName; message: string }
  /** A model request is tried again after `delay_ms`. */
  | { type: 'retry'; attempt: number; max: number; message: string; details: string; delay_ms: number }
  /** The history was replaced: `message` is preface and summary, `replacement` the whole new history. */
  | { type: 'context.compacted'; message: string; replacement: HistoryItem[] }
  | ({ type: 'turn.completed'; turn_id: string; last_message: string | null } & TurnTimes)
  | ({ type: 'turn.failed'; turn_id: string; error: TurnError } & TurnTimes)
  | ({ type: 'turn.aborted'; turn_id: string; reason: 'interrupted' | 'declined' } & TurnTimes);

export type TurnTimes = { started_at_ms: number; completed_at_ms: number; first_token_ms: number | null };

/** Receives events in order. Must not throw; slow work belongs behind a queue of its own. */
export type EventSink = (event: Event) => void;
