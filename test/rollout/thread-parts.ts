import type { HistoryItem } from '../../src/protocol/index.js';
import type { RolloutWriter, SessionMeta, TurnSettings } from '../../src/rollout/index.js';

export const THREAD = '01a227d0-0000-7000-8000-000000000001';

export const META: SessionMeta = {
  id: THREAD,
  timestamp: '2026-11-29T15:00:00.000Z',
  cwd: '/w',
  originator: 'codex_cli_rs',
  cli_version: '0.1.0',
  source: 'mcp',
  model_provider: 'mock',
  base_instructions: 'You are a coding agent.',
  git: { branch: 'main', commit_hash: 'abc' },
  interpreter: { model_auto_compact_token_limit: 5000 },
};

export const SETTINGS: TurnSettings = {
  turn_id: 'turn-1',
  cwd: '/w/sub',
  model: 'mock-model',
  approval_policy: 'on-request',
  sandbox_policy: {
    type: 'workspace-write',
    writable_roots: ['/w/sub', '/w/other'],
    network_access: true,
    exclude_tmpdir_env_var: false,
    exclude_slash_tmp: true,
    allow_unix_sockets: true,
  },
  effort: 'high',
  summary: null,
};

export function user(text: string): HistoryItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

export function assistant(text: string): HistoryItem {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

export function call(id: string): HistoryItem {
  return { type: 'function_call', call_id: id, name: 'exec_command', arguments: `{"cmd":"run ${id}"}` };
}

export function output(id: string, text = `output of ${id}`): HistoryItem {
  return { type: 'function_call_output', call_id: id, output: text };
}

function usage(total: number) {
  return {
    input_tokens: total - 10,
    cached_input_tokens: 0,
    cache_write_input_tokens: 0,
    output_tokens: 10,
    reasoning_output_tokens: 0,
    total_tokens: total,
  };
}

/** One whole turn: prompt, command, answer. */
export function appendTurn(writer: RolloutWriter, n: number): void {
  const turnId = `turn-${n}`;
  writer.append({
    type: 'event_msg',
    payload: { type: 'task_started', turn_id: turnId, started_at: 1, model_context_window: 1000 },
  });
  writer.append({ type: 'turn_context', payload: { ...SETTINGS, turn_id: turnId } });
  writer.append({ type: 'response_item', payload: user(`prompt ${n}`) });
  writer.append({ type: 'response_item', payload: call(`call-${n}`) });
  writer.append({ type: 'response_item', payload: output(`call-${n}`) });
  writer.append({ type: 'response_item', payload: assistant(`answer ${n}`) });
  writer.append({
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: { total_token_usage: usage(100 * n), last_token_usage: usage(100), model_context_window: 1000 },
      rate_limits: null,
    },
  });
  writer.append({
    type: 'event_msg',
    payload: { type: 'task_complete', turn_id: turnId, last_agent_message: `answer ${n}` },
  });
}

export function turnHistory(n: number): HistoryItem[] {
  return [user(`prompt ${n}`), call(`call-${n}`), output(`call-${n}`), assistant(`answer ${n}`)];
}
