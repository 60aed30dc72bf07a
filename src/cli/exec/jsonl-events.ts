/** The events of one process as the lines of `exec --json`. */
import {
  type Event,
  type Item,
  type JsonlEvent,
  type JsonlItem,
  type JsonlUsage,
  NO_USAGE,
  type TokenUsage,
} from '../../protocol/index.js';
import { toJsonlItem } from './jsonl-item.js';

type ItemPhase = 'item.started' | 'item.updated' | 'item.completed';

/** Items that are shown only once they are whole. */
const WHOLE_ONLY: readonly Item['type'][] = ['agent_message', 'reasoning', 'warning'];

/** One for each process: items are numbered through, and the plan stays one item to the end of its turn. */
export class JsonlEvents {
  #count = 0;
  #total: TokenUsage = NO_USAGE;
  /** Ids of items that were started and are not completed, by the id they have inside. */
  readonly #open = new Map<string, { readonly id: string; readonly item: Item }>();

  /** The lines of an event, in order; mostly none or one. */
  push(event: Event): JsonlEvent[] {
    switch (event.type) {
      case 'thread.started':
        return [{ type: 'thread.started', thread_id: event.thread_id }];
      case 'turn.started':
        return [{ type: 'turn.started' }];
      case 'item.started':
        return WHOLE_ONLY.includes(event.item.type) ? [] : this.#item('item.started', event.item);
      case 'item.updated':
        return this.#item('item.updated', event.item);
      case 'item.completed':
        return this.#item('item.completed', event.item);
      case 'usage.updated':
        this.#total = event.total;
        return [];
      case 'retry':
        return [{ type: 'error', message: `${event.message} (${event.details})` }];
      case 'turn.completed':
        return [...this.#closeItems(), { type: 'turn.completed', usage: usageOf(this.#total) }];
      case 'turn.failed':
        return this.fail(event.error.message);
      case 'turn.aborted':
        return this.interrupt();
      case 'mcp_server.updated':
      case 'mcp_servers.ready':
      case 'history.added':
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
      case 'context.compacted':
        return [];
    }
  }

  /** The lines of a turn that came to nothing. */
  fail(message: string): JsonlEvent[] {
    return [...this.#closeItems(), { type: 'error', message }, failed(message)];
  }

  /** The lines of a turn that was ended from outside. */
  interrupt(): JsonlEvent[] {
    return [...this.#closeItems(), failed('interrupted')];
  }

  #item(phase: ItemPhase, item: Item): JsonlEvent[] {
    const known = this.#open.get(item.id);
    const shown = toJsonlItem(item, known?.id ?? `item_${this.#count}`);
    if (shown === null) return [];
    if (!known) this.#count++;
    if (phase === 'item.completed') {
      this.#open.delete(item.id);
      return [{ type: phase, item: shown }];
    }
    this.#open.set(item.id, { id: shown.id, item });
    return [{ type: known ? 'item.updated' : 'item.started', item: shown }];
  }

  /** The plan ends with its turn, and so does what still runs: nobody tells of its end any more. */
  #closeItems(): JsonlEvent[] {
    const events = [...this.#open.values()].flatMap(({ id, item }): JsonlEvent[] => {
      const shown = toJsonlItem(item, id);
      return shown ? [{ type: 'item.completed', item: ended(shown) }] : [];
    });
    this.#open.clear();
    return events;
  }
}

function ended(item: JsonlItem): JsonlItem {
  return 'status' in item && item.status === 'in_progress' ? { ...item, status: 'failed' } : item;
}

function failed(message: string): JsonlEvent {
  return { type: 'turn.failed', error: { message } };
}

function usageOf(total: TokenUsage): JsonlUsage {
  return {
    input_tokens: total.input_tokens,
    cached_input_tokens: total.cached_input_tokens,
    cache_write_input_tokens: total.cache_write_input_tokens,
    output_tokens: total.output_tokens,
    reasoning_output_tokens: total.reasoning_output_tokens,
  };
}
