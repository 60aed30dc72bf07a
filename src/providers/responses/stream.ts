/** The event stream of the Responses API -> ModelEvents. */
import type { HistoryItem, ModelError, ModelEvent, ModelRequest, TokenUsage } from '../../protocol/index.js';
import { isObject } from '../../util/index.js';
import { errorOf } from '../error-text.js';
import { brokenStream, streamedError } from '../errors.js';
import { customToolNames } from '../history-items.js';
import { newId } from '../ids.js';
import { arrayOf, type JsonObject, numberOf, objectOf, parseJson, textOf } from '../json.js';
import type { Decoder } from '../wire.js';
import { isWhole, readItem } from './item.js';

export function responsesDecoder(request: ModelRequest): Decoder {
  return new ResponsesDecoder(request);
}

class ResponsesDecoder implements Decoder {
  readonly settled = false;
  readonly continuation = null;
  readonly #customTools: ReadonlySet<string>;
  #responseId = '';
  /** Ids of message and reasoning items that were announced. */
  readonly #announced = new Set<string>();
  /** Items behind the first call that may be cut: delivered when the end shows that the answer is whole. */
  readonly #held: HistoryItem[] = [];
  #delivered = 0;

  constructor(request: ModelRequest) {
    this.#customTools = customToolNames(request.tools);
  }

  push(data: string, name?: string): ModelEvent[] {
    if (data === '' || data === '[DONE]') return [];
    const event = parseJson(data);
    if (!isObject(event)) {
      return [failed(brokenStream(`The stream holds an event that is no JSON (${name ?? 'unnamed'}).`))];
    }
    return this.#read(event, textOf(event.type) || (name ?? ''));
  }

  end(): ModelEvent[] {
    return [failed(brokenStream('The stream ended before response.completed.'))];
  }

  #read(event: JsonObject, name: string): ModelEvent[] {
    switch (name) {
      case 'response.created':
        this.#responseId = textOf(objectOf(event.response).id);
        return [];
      case 'response.output_item.added':
        return this.#itemAdded(objectOf(event.item));
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#delta(event, 'message', (item_id, delta) => ({ type: 'text.delta', item_id, delta }));
      case 'response.reasoning_summary_part.added':
        return this.#section(event);
      case 'response.reasoning_summary_text.delta': {
        const summary_index = numberOf(event.summary_index) ?? 0;
        const make = (item_id: string, delta: string) => ({
          type: 'reasoning.delta' as const,
          item_id,
          summary_index,
          delta,
        });
        return this.#delta(event, 'reasoning', make);
      }
      case 'response.reasoning_text.delta': {
        const content_index = numberOf(event.content_index) ?? 0;
        const make = (item_id: string, delta: string) => ({
          type: 'reasoning.raw_delta' as const,
          item_id,
          content_index,
          delta,
        });
        return this.#delta(event, 'reasoning', make);
      }
      case 'response.output_item.done':
        return this.#itemDone(objectOf(event.item));
      case 'response.completed':
      case 'response.done':
        return this.#completed(objectOf(event.response));
      case 'response.incomplete':
        return this.#incomplete(objectOf(event.response));
      case 'response.failed':
        return [failed(streamedError(errorOf(objectOf(event.response).error), name))];
      case 'error':
        return [failed(streamedError(errorOf(event), name))];
      // Everything else repeats what the whole items say, or is of no use here.
      default:
        if (isObject(event.error)) return [failed(streamedError(errorOf(event), name))];
        // A server that does not stream answers with the response itself.
        return event.object === 'response' ? this.#completed(event) : [];
    }
  }

  #itemAdded(item: JsonObject): ModelEvent[] {
    if (item.type === 'message') return this.#announce(textOf(item.id), 'message');
    if (item.type === 'reasoning') return this.#announce(textOf(item.id), 'reasoning');
    return [];
  }

  #announce(id: string, kind: 'message' | 'reasoning'): ModelEvent[] {
    if (id === '' || this.#announced.has(id)) return [];
    this.#announced.add(id);
    return [{ type: 'item.started', item_id: id, kind }];
  }

  #delta(
    event: JsonObject,
    kind: 'message' | 'reasoning',
    make: (itemId: string, delta: string) => ModelEvent,
  ): ModelEvent[] {
    const id = textOf(event.item_id);
    const delta = textOf(event.delta);
    if (id === '' || delta === '') return [];
    return [...this.#announce(id, kind), make(id, delta)];
  }

  #section(event: JsonObject): ModelEvent[] {
    const id = textOf(event.item_id);
    if (id === '') return [];
    const summary_index = numberOf(event.summary_index) ?? 0;
    return [...this.#announce(id, 'reasoning'), { type: 'reasoning.section', item_id: id, summary_index }];
  }

  #itemDone(raw: JsonObject): ModelEvent[] {
    const item = readItem(raw, this.#customTools);
    if (item === null) return [];
    this.#delivered++;
    if (this.#held.length > 0 || !isWhole(item)) {
      this.#held.push(item);
      return [];
    }
    return this.#deliver(item);
  }

  #deliver(item: HistoryItem): ModelEvent[] {
    const started =
      item.type === 'message' || item.type === 'reasoning' ? this.#announce(textOf(item.id), item.type) : [];
    return [...started, { type: 'item.completed', item }];
  }

  #completed(response: JsonObject): ModelEvent[] {
    // A response that says so itself failed whatever the event is called.
    if (response.status === 'failed') return [failed(streamedError(errorOf(response.error), 'response.failed'))];
    if (response.status === 'incomplete') return this.#incomplete(response);
    // Some servers stream deltas only and list the items at the end.
    const late = this.#delivered > 0 ? [] : arrayOf(response.output).flatMap(item => this.#itemDone(objectOf(item)));
    const rest = this.#held.flatMap(item => this.#deliver(item));
    return [...late, ...rest, this.#finish(response, false)];
  }

  #incomplete(response: JsonObject): ModelEvent[] {
    const reason = textOf(objectOf(response.incomplete_details).reason);
    if (reason === 'content_filter') {
      const message = "The provider's content filter stopped the answer.";
      return [failed({ message, kind: 'other', retryable: false })];
    }
    const whole = this.#held.filter(isWhole).flatMap(item => this.#deliver(item));
    return [...whole, this.#finish(response, true)];
  }

  #finish(response: JsonObject, truncated: boolean): ModelEvent {
    const response_id = textOf(response.id) || this.#responseId || newId('resp');
    return { type: 'completed', response_id, usage: readUsage(response.usage), truncated };
  }
}

function failed(error: ModelError): ModelEvent {
  return { type: 'failed', error };
}

function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value)) return null;
  const input = numberOf(value.input_tokens) ?? 0;
  const output = numberOf(value.output_tokens) ?? 0;
  return {
    input_tokens: input,
    cached_input_tokens: numberOf(objectOf(value.input_tokens_details).cached_tokens) ?? 0,
    cache_write_input_tokens: 0,
    output_tokens: output,
    reasoning_output_tokens: numberOf(objectOf(value.output_tokens_details).reasoning_tokens) ?? 0,
    total_tokens: numberOf(value.total_tokens) ?? input + output,
  };
}
