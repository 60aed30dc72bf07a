/** The event stream of the Messages API -> ModelEvents. */
import { addUsage, type HistoryItem, type ModelError, type ModelEvent, type TokenUsage } from '../../protocol/index.js';
import { isObject } from '../../util/index.js';
import { normaliseArguments } from '../arguments.js';
import { errorOf } from '../error-text.js';
import { brokenStream, streamedError } from '../errors.js';
import { CUSTOM_TOOL_PARAMETERS, customToolNames, isJsonObject, toolCallItem } from '../history-items.js';
import { newId } from '../ids.js';
import { arrayOf, type JsonObject, numberOf, objectOf, parseJson, textOf } from '../json.js';
import type { Continuation, Decoder, WireBody, WireContext } from '../wire.js';
import { OpenBlock } from './blocks.js';
import type { Block, BlocksReplay } from './messages.js';

export function messagesDecoder(context: WireContext, body: WireBody, used: TokenUsage | null): Decoder {
  return new MessagesDecoder(context, body, used);
}

type Thought = { id: string; blocks: Block[]; summary: string[]; announced: boolean };
type Text = { id: string; text: string; blocks: Block[]; cited: boolean };

class MessagesDecoder implements Decoder {
  continuation: Continuation | null = null;
  readonly #context: WireContext;
  readonly #body: WireBody;
  readonly #used: TokenUsage | null;
  readonly #open = new Map<number, OpenBlock>();
  /** Every finished block, in order: what a continuation sends back. */
  readonly #finished: Block[] = [];
  /** Thoughts and blocks that mean nothing to us, until something else begins. */
  #thought: Thought | null = null;
  /** Texts that follow each other are one message: an answer with citations comes in many. */
  #text: Text | null = null;
  /** Items behind the first call that may be cut. */
  readonly #held: HistoryItem[] = [];
  #stopReason: string | null = null;
  readonly #counts: { [name: string]: unknown } = {};
  #responseId = '';

  constructor(context: WireContext, body: WireBody, used: TokenUsage | null) {
    this.#context = context;
    this.#body = body;
    this.#used = used;
  }

  get settled(): boolean {
    return this.#stopReason !== null;
  }

  push(data: string, name?: string): ModelEvent[] {
    if (data.trim() === '' || data.trim() === '[DONE]') return [];
    const event = parseJson(data);
    if (!isObject(event))
      return [failed(brokenStream(`The stream holds an event that is no JSON (${name ?? 'unnamed'}).`))];
    const type = textOf(event.type) || (name ?? '');
    switch (type) {
      case 'message_start':
        this.#start(objectOf(event.message));
        return [];
      case 'content_block_start':
        return this.#blockStart(numberOf(event.index) ?? 0, objectOf(event.content_block));
      case 'content_block_delta':
        return this.#blockDelta(numberOf(event.index) ?? 0, objectOf(event.delta));
      case 'content_block_stop':
        return this.#blockStop(numberOf(event.index) ?? 0);
      case 'message_delta':
        this.#stopReason = textOf(objectOf(event.delta).stop_reason) || this.#stopReason;
        this.#count(event.usage);
        return [];
      case 'message_stop':
        return this.#finish();
      case 'message':
        return this.#wholeMessage(event);
      case 'error':
        return [failed(streamedError(errorOf(event), 'error'))];
      default:
        // `ping`, and what later versions add.
        return event.error === undefined ? [] : [failed(streamedError(errorOf(event), 'error'))];
    }
  }

  end(): ModelEvent[] {
    if (this.#stopReason !== null) return this.#finish();
    return [failed(brokenStream('The stream ended before message_stop.'))];
  }

  #start(message: JsonObject): void {
    this.#responseId = textOf(message.id);
    this.#count(message.usage);
  }

  /** The answer of a server that does not stream. */
  #wholeMessage(message: JsonObject): ModelEvent[] {
    this.#start(message);
    this.#stopReason = textOf(message.stop_reason) || 'end_turn';
    const events = arrayOf(message.content).flatMap((block, index) => [
      ...this.#blockStart(index, objectOf(block)),
      ...this.#blockStop(index),
    ]);
    return [...events, ...this.#finish()];
  }

  #blockStart(index: number, start: JsonObject): ModelEvent[] {
    const block = new OpenBlock(start);
    this.#open.set(index, block);
    switch (block.type) {
      case 'text':
        return [...this.#endThought(), ...this.#say(block.initialText)];
      case 'thinking':
        return [...this.#endText(), ...this.#think(block.initialText, true)];
      case 'tool_use':
        return [...this.#endThought(), ...this.#endText()];
      default:
        return this.#endText();
    }
  }

  #blockDelta(index: number, delta: JsonObject): ModelEvent[] {
    const block = this.#open.get(index);
    const added = block?.add(delta) ?? '';
    if (added === '') return [];
    return block?.type === 'thinking' ? this.#think(added, false) : this.#say(added);
  }

  #blockStop(index: number): ModelEvent[] {
    const block = this.#open.get(index);
    if (block === undefined) return [];
    this.#open.delete(index);
    const whole = block.finish();
    this.#finished.push(whole);
    switch (block.type) {
      case 'text':
        if (this.#text !== null) {
          this.#text.blocks.push(whole);
          this.#text.cited ||= block.hasCitations;
        }
        return [];
      case 'tool_use':
        return this.#call(whole, block.inputText);
      default:
        this.#thought ??= newThought();
        this.#thought.blocks.push(whole);
        return [];
    }
  }

  /** `begins`: a block of its own begins, a section of the same thought when there is one already. */
  #think(delta: string, begins: boolean): ModelEvent[] {
    this.#thought ??= newThought();
    const thought = this.#thought;
    const events: ModelEvent[] = [];
    if (!thought.announced) events.push({ type: 'item.started', item_id: thought.id, kind: 'reasoning' });
    thought.announced = true;
    if (begins) {
      thought.summary.push('');
      const summary_index = thought.summary.length - 1;
      if (summary_index > 0) events.push({ type: 'reasoning.section', item_id: thought.id, summary_index });
    }
    if (delta === '') return events;
    const summary_index = Math.max(0, thought.summary.length - 1);
    thought.summary[summary_index] = (thought.summary[summary_index] ?? '') + delta;
    events.push({ type: 'reasoning.delta', item_id: thought.id, summary_index, delta });
    return events;
  }

  #say(delta: string): ModelEvent[] {
    if (delta === '') return [];
    const events: ModelEvent[] = [];
    if (this.#text === null) {
      this.#text = { id: newId('msg'), text: '', blocks: [], cited: false };
      events.push({ type: 'item.started', item_id: this.#text.id, kind: 'message' });
    }
    this.#text.text += delta;
    events.push({ type: 'text.delta', item_id: this.#text.id, delta });
    return events;
  }

  #endThought(): ModelEvent[] {
    const thought = this.#thought;
    if (thought === null) return [];
    this.#thought = null;
    const started: ModelEvent[] = thought.announced
      ? []
      : [{ type: 'item.started', item_id: thought.id, kind: 'reasoning' }];
    const summary = thought.summary.filter(text => text !== '').map(text => ({ type: 'summary_text' as const, text }));
    const item = { type: 'reasoning' as const, id: thought.id, summary, replay: this.#replay(thought.blocks) };
    return [...started, ...this.#deliver(item)];
  }

  #endText(): ModelEvent[] {
    const text = this.#text;
    if (text === null) return [];
    this.#text = null;
    return this.#deliver({
      type: 'message',
      id: text.id,
      role: 'assistant',
      content: [{ type: 'output_text', text: text.text }],
      ...(text.cited ? { replay: this.#replay(text.blocks) } : {}),
    });
  }

  #replay(blocks: readonly Block[]) {
    const data: BlocksReplay = { blocks };
    return { wire: 'messages' as const, model: this.#context.request.model.id, data };
  }

  #call(block: Block, input: string): ModelEvent[] {
    const name = textOf(block.name);
    const call_id = textOf(block.id) || newId('call');
    const { tools } = this.#context.request;
    // Empty arguments are those of a tool without any, or lost ones: the end tells.
    const blank = input.trim() === '';
    const text = blank ? '' : normaliseArguments(input, this.#schemaOf(name));
    const whole = isJsonObject(text);
    const item = { type: 'function_call' as const, id: newId('fc'), call_id, name, arguments: whole ? text : input };
    if (whole && this.#held.length === 0) return this.#deliver(toolCallItem(item, customToolNames(tools)));
    this.#held.push(item);
    return [];
  }

  #schemaOf(name: string): JsonObject | undefined {
    const tool = this.#context.request.tools.find(spec => spec.type !== 'web_search' && spec.name === name);
    if (tool === undefined || tool.type === 'web_search') return undefined;
    return tool.type === 'custom' ? CUSTOM_TOOL_PARAMETERS : tool.parameters;
  }

  #deliver(item: HistoryItem): ModelEvent[] {
    if (this.#held.length > 0) {
      this.#held.push(item);
      return [];
    }
    return [{ type: 'item.completed', item: withOwnId(item) }];
  }

  /** The held items, now that the end shows whether a call was cut. */
  #release(truncated: boolean): ModelEvent[] {
    const custom = customToolNames(this.#context.request.tools);
    const items = this.#held.splice(0).flatMap((item): HistoryItem[] => {
      if (item.type !== 'function_call') return [item];
      if (truncated && !isJsonObject(item.arguments)) return [];
      return [toolCallItem(item.arguments.trim() === '' ? { ...item, arguments: '{}' } : item, custom)];
    });
    return items.map(item => ({ type: 'item.completed', item: withOwnId(item) }));
  }

  #finish(): ModelEvent[] {
    // Some servers leave out the end of their last block.
    const late = [...this.#open.keys()].sort((a, b) => a - b).flatMap(index => this.#blockStop(index));
    const rest = [...late, ...this.#endThought(), ...this.#endText()];
    const reason = this.#stopReason ?? 'end_turn';
    switch (reason) {
      case 'refusal':
        return [...rest, failed({ message: 'The model refused to answer.', kind: 'other', retryable: false })];
      case 'model_context_window_exceeded': {
        const message = 'The answer no longer fits into the context window of the model.';
        return [...rest, failed({ message, kind: 'context_window_exceeded', retryable: false })];
      }
      case 'pause_turn':
        this.continuation = { body: this.#continued(), usage: this.#usage() };
        return [...rest, ...this.#release(false)];
      default:
        return [...rest, ...this.#complete(this.#stopReason === 'max_tokens')];
    }
  }

  #complete(truncated: boolean): ModelEvent[] {
    const response_id = this.#responseId || newId('resp');
    return [...this.#release(truncated), { type: 'completed', response_id, usage: this.#usage(), truncated }];
  }

  /** The same request with what the model has said so far as its last message. */
  #continued(): WireBody {
    const messages = arrayOf(this.#body.messages);
    const last = objectOf(messages.at(-1));
    const before = last.role === 'assistant' ? arrayOf(last.content) : [];
    const content = [...before, ...this.#finished];
    return {
      ...this.#body,
      messages: [...(before.length > 0 ? messages.slice(0, -1) : messages), { role: 'assistant', content }],
    };
  }

  /** Later counts replace earlier ones: they grow while the answer comes. */
  #count(usage: unknown): void {
    for (const [name, value] of Object.entries(objectOf(usage))) if (value !== null) this.#counts[name] = value;
  }

  /** Cached input is not a part of `input_tokens` here; ours is the sum. */
  #usage(): TokenUsage | null {
    const counts = this.#counts;
    if (Object.keys(counts).length === 0) return this.#used;
    const read = numberOf(counts.cache_read_input_tokens) ?? 0;
    const written = numberOf(counts.cache_creation_input_tokens) ?? 0;
    const input = (numberOf(counts.input_tokens) ?? 0) + read + written;
    const output = numberOf(counts.output_tokens) ?? 0;
    const usage = {
      input_tokens: input,
      cached_input_tokens: read,
      cache_write_input_tokens: written,
      output_tokens: output,
      reasoning_output_tokens: numberOf(objectOf(counts.output_tokens_details).thinking_tokens) ?? 0,
      total_tokens: input + output,
    };
    return this.#used === null ? usage : addUsage(this.#used, usage);
  }
}

function newThought(): Thought {
  return { id: newId('rs'), blocks: [], summary: [], announced: false };
}

function withOwnId(item: HistoryItem): HistoryItem {
  return item.type === 'custom_tool_call' ? { ...item, id: newId('ctc') } : item;
}

function failed(error: ModelError): ModelEvent {
  return { type: 'failed', error };
}
