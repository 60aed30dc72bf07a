/** Writes what happens in a thread into its rollout: one listener that maps events to lines. */
import { type Event, type EventSink, type Item, NO_USAGE, toTurnItem } from '../protocol/index.js';
import type { RolloutLine } from '../rollout/index.js';

/** The open turn, for the fields that one event alone does not have. */
type OpenTurn = { turnId: string; startedAtMs: number; itemStarts: Map<string, number> };

/** A sink that hands the lines of each event to `append`. Deltas, approvals, warnings and retries are not stored. */
export function recordEvents(threadId: string, append: (line: RolloutLine) => void): EventSink {
  let open: OpenTurn = { turnId: '', startedAtMs: 0, itemStarts: new Map() };
  return event => {
    if (event.type === 'turn.started') {
      open = { turnId: event.turn_id, startedAtMs: event.started_at_ms, itemStarts: new Map() };
    }
    if (event.type === 'item.started') open.itemStarts.set(event.item.id, event.at_ms);
    for (const line of linesOf(event, threadId, open)) append(line);
  };
}

function linesOf(event: Event, threadId: string, open: OpenTurn): RolloutLine[] {
  switch (event.type) {
    case 'turn.started':
      return [
        eventMsg({
          type: 'task_started',
          turn_id: event.turn_id,
          started_at: seconds(event.started_at_ms),
          model_context_window: event.model_context_window,
        }),
      ];
    case 'history.added':
      return [{ type: 'response_item', payload: event.item }];
    case 'item.completed':
      return itemLines(event.item, event.at_ms, threadId, open);
    case 'usage.updated':
      return [
        eventMsg({
          type: 'token_count',
          info: {
            total_token_usage: event.total,
            last_token_usage: event.last ?? NO_USAGE,
            model_context_window: event.model_context_window,
          },
          rate_limits: null,
        }),
      ];
    case 'context.compacted':
      return [{ type: 'compacted', payload: { message: event.message, replacement_history: event.replacement } }];
    case 'turn.completed':
      return [eventMsg({ type: 'task_complete', last_agent_message: event.last_message, ...ended(event) })];
    case 'turn.failed':
      return [
        eventMsg({
          type: 'task_complete',
          last_agent_message: null,
          error: { message: event.error.message, codex_error_info: event.error.kind },
          ...ended(event),
        }),
      ];
    case 'turn.aborted':
      return [eventMsg({ type: 'turn_aborted', reason: 'interrupted', ...ended(event) })];
    case 'thread.started':
    case 'mcp_server.updated':
    case 'mcp_servers.ready':
    case 'item.started':
    case 'item.updated':
    case 'text.delta':
    case 'reasoning.delta':
    case 'reasoning.section':
    case 'reasoning.raw_delta':
    case 'command.output':
    case 'command.input':
    case 'approval.requested':
    case 'approval.decided':
    case 'response.completed':
    case 'diff.updated':
    case 'hook.started':
    case 'retry':
      return [];
  }
}

function itemLines(item: Item, atMs: number, threadId: string, open: OpenTurn): RolloutLine[] {
  const turnItem = toTurnItem(item);
  if (!turnItem) return [];
  return [
    eventMsg({
      type: 'item_completed',
      thread_id: threadId,
      turn_id: open.turnId,
      item: turnItem,
      started_at_ms: open.itemStarts.get(item.id) ?? atMs,
      completed_at_ms: atMs,
    }),
  ];
}

function eventMsg(payload: (RolloutLine & { type: 'event_msg' })['payload']): RolloutLine {
  return { type: 'event_msg', payload };
}

function ended(event: {
  turn_id: string;
  started_at_ms: number;
  completed_at_ms: number;
  first_token_ms: number | null;
}) {
  return {
    turn_id: event.turn_id,
    started_at: seconds(event.started_at_ms),
    completed_at: seconds(event.completed_at_ms),
    duration_ms: event.completed_at_ms - event.started_at_ms,
    time_to_first_token_ms: event.first_token_ms,
  };
}

const seconds = (ms: number): number => Math.floor(ms / 1000);
