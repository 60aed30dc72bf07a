/**
 * The lines of a rollout: `{"timestamp","ordinal","type","payload"}`, one JSON object each, in the form that codex 0.148
 * writes and reads. Our own additions are extra fields and one extra line type, which that program passes over.
 */
import type { ApprovalPolicy, GitInfo, HistoryItem, SandboxPolicy, TokenUsage } from '../protocol/index.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The first line of a thread's file. */
export type SessionMeta = {
  readonly id: string;
  /** ISO 8601, the start of the thread. */
  readonly timestamp: string;
  readonly cwd: string;
  readonly originator: string;
  readonly cli_version: string;
  /** `mcp`, `exec`, … */
  readonly source: string;
  readonly model_provider: string | null;
  /** The system prompt of the thread. */
  readonly base_instructions: string | null;
  readonly forked_from_id?: string;
  readonly git: GitInfo | null;
  /**
   * What a resume needs and the reference does not store: limits, prompts, the call's config. Secrets stand in it by
   * the name of their variable, never by value.
   */
  readonly interpreter: JsonObject | null;
  /** Read only: the first part of the history is in another thread's file. */
  readonly history_base?: HistoryBase;
};

export type HistoryBase = {
  readonly thread_id: string;
  /** Lines of the other file with an ordinal below this belong to this thread. */
  readonly end_ordinal: number | null;
  /** The same in bytes; used when lines have no ordinals. */
  readonly end_byte: number | null;
};

/** The settings of one turn, written at its start. */
export type TurnSettings = {
  readonly turn_id: string;
  readonly cwd: string;
  readonly model: string;
  readonly approval_policy: ApprovalPolicy;
  readonly sandbox_policy: SandboxPolicy;
  readonly effort: string | null;
  readonly summary: string | null;
};

/** Replaces everything before it. */
export type CompactedLine = { readonly message: string; readonly replacement_history: readonly HistoryItem[] };

/** What the model was last told about its surroundings; lets later turns send changes only. */
export type WorldState = { readonly full: boolean; readonly state: JsonObject };

/** A line of our own, e.g. a grant. `kind` says what it is; readers pass over kinds they do not know. */
export type InterpreterLine = { readonly kind: string; readonly [key: string]: Json };

/** Times of events: seconds since 1970 in `started_at` and `completed_at`. */
export type RolloutEvent =
  | {
      readonly type: 'task_started';
      readonly turn_id: string;
      readonly started_at: number;
      readonly model_context_window: number | null;
    }
  | {
      readonly type: 'task_complete';
      readonly turn_id: string;
      readonly last_agent_message: string | null;
      /** Present when the turn failed. */
      readonly error?: { readonly message: string; readonly codex_error_info?: string };
      readonly started_at?: number;
      readonly completed_at?: number;
      readonly duration_ms?: number;
      readonly time_to_first_token_ms?: number | null;
    }
  | {
      readonly type: 'turn_aborted';
      readonly turn_id: string;
      readonly reason: string;
      readonly started_at?: number;
      readonly completed_at?: number;
      readonly duration_ms?: number;
    }
  | {
      readonly type: 'token_count';
      readonly info: {
        readonly total_token_usage: TokenUsage;
        readonly last_token_usage: TokenUsage;
        readonly model_context_window: number | null;
      } | null;
      readonly rate_limits: null;
    }
  /** The last `num_turns` turns no longer belong to the history. */
  | { readonly type: 'thread_rolled_back'; readonly num_turns: number }
  | {
      readonly type: 'item_completed';
      readonly thread_id: string;
      readonly turn_id: string;
      /** In the reference's spelling of items. */
      readonly item: { readonly type: string };
      readonly started_at_ms: number;
      readonly completed_at_ms: number;
    };

/** One thing to write. */
export type RolloutLine =
  | { readonly type: 'session_meta'; readonly payload: SessionMeta }
  | { readonly type: 'turn_context'; readonly payload: TurnSettings }
  | { readonly type: 'world_state'; readonly payload: WorldState }
  | { readonly type: 'response_item'; readonly payload: HistoryItem }
  | { readonly type: 'event_msg'; readonly payload: RolloutEvent }
  | { readonly type: 'compacted'; readonly payload: CompactedLine }
  | { readonly type: 'interpreter'; readonly payload: InterpreterLine };

/** The payload as it stands in the file. */
export function encodePayload(line: RolloutLine): unknown {
  switch (line.type) {
    case 'session_meta':
      return encodeMeta(line.payload);
    case 'turn_context':
      return encodeTurnSettings(line.payload);
    case 'world_state':
    case 'response_item':
    case 'event_msg':
    case 'compacted':
    case 'interpreter':
      return line.payload;
  }
}

function encodeMeta(meta: SessionMeta): unknown {
  return {
    session_id: meta.id,
    id: meta.id,
    ...(meta.forked_from_id === undefined ? {} : { forked_from_id: meta.forked_from_id }),
    timestamp: meta.timestamp,
    cwd: meta.cwd,
    originator: meta.originator,
    cli_version: meta.cli_version,
    source: meta.source,
    ...(meta.source === 'mcp' ? {} : { thread_source: 'user' }),
    model_provider: meta.model_provider,
    base_instructions: meta.base_instructions === null ? null : { text: meta.base_instructions },
    history_mode: 'paginated',
    ...(meta.git === null ? {} : { git: meta.git }),
    ...(meta.interpreter === null ? {} : { interpreter: meta.interpreter }),
  };
}

function encodeTurnSettings(settings: TurnSettings): unknown {
  const { sandbox_policy: policy, effort, summary, ...rest } = settings;
  return {
    ...rest,
    sandbox_policy: referencePolicy(policy),
    ...(effort === null ? {} : { effort }),
    summary: summary ?? 'auto',
    // Exactly what we ran with; the fields above are the nearest the reference knows.
    interpreter: { sandbox_policy: policy, summary },
  };
}

/** The nearest policy the reference knows. A permission profile has none: the strictest stands for it. */
function referencePolicy(policy: SandboxPolicy): unknown {
  switch (policy.type) {
    case 'read-only':
    case 'danger-full-access':
      return { type: policy.type };
    case 'workspace-write':
      return {
        type: policy.type,
        writable_roots: policy.writable_roots,
        network_access: policy.network_access,
        exclude_tmpdir_env_var: policy.exclude_tmpdir_env_var,
        exclude_slash_tmp: policy.exclude_slash_tmp,
      };
    case 'profile':
      return { type: 'read-only' };
  }
}
