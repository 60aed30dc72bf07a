/** The chunks of a chat completion -> ModelEvents. */
import type { ModelError, ModelEvent, ModelRequest, TokenUsage } from '../../protocol/index.js';
import { isObject } from '../../util/index.js';
import { normaliseArguments } from '../arguments.js';
import { errorOf } from '../error-text.js';
import { brokenStream, streamedError } from '../errors.js';
import { CUSTOM_TOOL_PARAMETERS, callIds, customToolNames, isJsonObject, toolCallItem } from '../history-items.js';
import { newId } from '../ids.js';
import { arrayOf, type JsonObject, numberOf, objectOf, parseJson, textOf } from '../json.js';
import type { Decoder } from '../wire.js';
import { type AssembledCall, CallAssembler } from './calls.js';
import { ContentReader } from './content.js';
import type { CallReplay, ReasoningReplay } from './messages.js';
import { printedCall } from './printed-call.js';
import { ReasoningDetails } from './reasoning-details.js';

export function chatDecoder(request: ModelRequest): Decoder {
  return new ChatDecoder(request);
}

/** Reasons to finish that are faults of the service, other than `error`. */
const FAULTS = ['insufficient_system_resource', 'network_error', 'abort', 'aborted', 'timeout', 'internal_error'];
const FILTERS = ['content_filter', 'sensitive', 'safety', 'prohibited_content', 'recitation', 'blocklist', 'refusal'];
const LIMITS = ['length', 'max_tokens', 'model_length', 'max_output_tokens'];

class ChatDecoder implements Decoder {
  readonly continuation = null;
  readonly #request: ModelRequest;
  readonly #calls = new CallAssembler(() => [...this.#schemas().keys()]);
  readonly #content: ContentReader;
  readonly #details = new ReasoningDetails();
  readonly #messageId = newId('msg');
  #text = '';
  #messageStarted = false;
  #reasoning: { id: string; text: string; field: ReasoningReplay['field'] | null } | null = null;
  #finish: string | null = null;
  #usage: TokenUsage | null = null;
  #responseId = '';

  constructor(request: ModelRequest) {
    this.#request = request;
    // An answer in JSON is what was asked for then.
    this.#content = new ContentReader(request.tools.length > 0 && request.output_schema === null);
  }

  get settled(): boolean {
    return this.#finish !== null;
  }

  push(data: string, name?: string): ModelEvent[] {
    const text = data.trim();
    if (text === '') return [];
    if (text === '[DONE]') return this.#done(true);
    const chunk = parseJson(text);
    if (Array.isArray(chunk)) return [failed(streamedError(errorOf(chunk), 'error'))];
    if (!isObject(chunk))
      return [failed(brokenStream(`The stream holds an event that is no JSON: ${text.slice(0, 200)}`))];
    const error = errorIn(chunk, name);
    if (error !== null) return [failed(error)];
    return this.#readChunk(chunk);
  }

  end(): ModelEvent[] {
    return this.#done(false);
  }

  #readChunk(chunk: JsonObject): ModelEvent[] {
    this.#responseId ||= textOf(chunk.id);
    this.#usage = readUsage(chunk.usage) ?? readUsage(objectOf(chunk.x_groq).usage) ?? this.#usage;
    const choice = objectOf(arrayOf(chunk.choices)[0]);
    this.#usage = readUsage(choice.usage) ?? this.#usage;
    const delta = objectOf(choice.delta ?? choice.message);
    const events = [
      ...this.#readReasoning(delta),
      ...this.#readContent(delta.content),
      ...this.#readText(textOf(delta.refusal)),
    ];
    if (delta.tool_calls !== undefined && delta.tool_calls !== null) {
      events.push(...this.#endReasoning());
      this.#calls.add(delta.tool_calls);
    }
    const finish = textOf(choice.finish_reason).toLowerCase();
    if (finish !== '') this.#finish = finish;
    return events;
  }

  #readReasoning(delta: JsonObject): ModelEvent[] {
    this.#details.add(delta.reasoning_details);
    for (const field of ['reasoning_content', 'reasoning'] as const) {
      const text = textOf(delta[field]);
      if (text !== '') return this.#think(text, field);
    }
    return [];
  }

  /** Content is a text, a part or a list of parts; Mistral's parts of type `thinking` are reasoning. */
  #readContent(content: unknown): ModelEvent[] {
    if (typeof content === 'string') return this.#readText(content);
    if (Array.isArray(content)) return content.flatMap(part => this.#readContent(part));
    if (!isObject(content)) return [];
    if (content.type !== 'thinking') return this.#readText(textOf(content.text));
    const { thinking } = content;
    const texts =
      typeof thinking === 'string' ? [thinking] : arrayOf(thinking).map(part => textOf(objectOf(part).text));
    return this.#think(texts.join(''), 'thinking');
  }

  #readText(text: string): ModelEvent[] {
    if (text === '') return [];
    return this.#content
      .push(text)
      .flatMap(piece => (piece.kind === 'reasoning' ? this.#think(piece.text, null) : this.#say(piece.text)));
  }

  /** `field` null: reasoning printed in the text, which no field takes back. */
  #think(delta: string, field: ReasoningReplay['field'] | null): ModelEvent[] {
    if (delta === '') return [];
    const events: ModelEvent[] = [];
    if (this.#reasoning === null) {
      this.#reasoning = { id: newId('rs'), text: '', field };
      events.push({ type: 'item.started', item_id: this.#reasoning.id, kind: 'reasoning' });
    }
    this.#reasoning.text += delta;
    events.push({ type: 'reasoning.raw_delta', item_id: this.#reasoning.id, content_index: 0, delta });
    return events;
  }

  #say(delta: string): ModelEvent[] {
    const events = this.#endReasoning();
    if (!this.#messageStarted) {
      this.#messageStarted = true;
      events.push({ type: 'item.started', item_id: this.#messageId, kind: 'message' });
    }
    this.#text += delta;
    events.push({ type: 'text.delta', item_id: this.#messageId, delta });
    return events;
  }

  #endReasoning(details?: readonly unknown[]): ModelEvent[] {
    const reasoning = this.#reasoning;
    if (reasoning === null && details === undefined) return [];
    this.#reasoning = null;
    const field = reasoning === null ? 'reasoning' : reasoning.field;
    const data: ReasoningReplay | null = field === null ? null : { field, ...(details ? { details } : {}) };
    return [
      {
        type: 'item.completed',
        item: {
          type: 'reasoning',
          id: reasoning?.id ?? newId('rs'),
          summary: [],
          content: reasoning === null ? [] : [{ type: 'reasoning_text', text: reasoning.text }],
          ...(data === null ? {} : { replay: { wire: 'chat' as const, model: this.#request.model.id, data } }),
        },
      },
    ];
  }

  /** `marked`: the stream said that it is over, in words other than a finish reason. */
  #done(marked: boolean): ModelEvent[] {
    const finish = this.#finish;
    if (finish === null && !marked) return [failed(brokenStream('The stream ended before its finish reason.'))];
    if (finish === 'error' || FAULTS.includes(finish ?? '')) {
      return [failed(brokenStream(`The provider broke the answer off (${finish}).`))];
    }
    if (finish !== null && FILTERS.includes(finish)) {
      return [
        failed({
          message: `The provider's content filter stopped the answer (${finish}).`,
          kind: 'other',
          retryable: false,
        }),
      ];
    }
    if (finish === 'model_context_window_exceeded') {
      const message = 'The answer no longer fits into the context window of the model.';
      return [failed({ message, kind: 'context_window_exceeded', retryable: false })];
    }
    return this.#complete(finish !== null && LIMITS.includes(finish));
  }

  #complete(truncated: boolean): ModelEvent[] {
    const calls = this.#calls.finish(callIds(this.#request.input));
    const wanted = calls.filter(call => !truncated || isJsonObject(this.#argumentsOf(call)));
    if (this.#finish === null && !wanted.every(call => isJsonObject(this.#argumentsOf(call)))) {
      return [failed(brokenStream('The stream ended inside a tool call.'))];
    }
    if (wanted.some(call => call.name === ''))
      return [failed(brokenStream('The stream holds a tool call without a name.'))];
    const { pieces, held } = this.#content.end();
    const printed =
      held === '' || truncated || calls.length > 0 ? null : printedCall(held, new Set(this.#schemas().keys()));
    const events = pieces.flatMap(({ text }) => this.#think(text, null));
    if (printed === null && held !== '') events.push(...this.#say(held));
    const details = this.#details.finish();
    if (this.#reasoning !== null || details !== undefined) events.push(...this.#endReasoning(details));
    if (this.#messageStarted) events.push(this.#message());
    for (const call of wanted) events.push(this.#callItem(call));
    if (printed !== null) events.push(this.#callItem({ ...printed, id: newId('call'), extra: {} }));
    const response_id = this.#responseId || newId('resp');
    return [...events, { type: 'completed', response_id, usage: this.#usage, truncated }];
  }

  #message(): ModelEvent {
    const content = [{ type: 'output_text' as const, text: this.#text }];
    return { type: 'item.completed', item: { type: 'message', id: this.#messageId, role: 'assistant', content } };
  }

  #callItem(call: AssembledCall): ModelEvent {
    const data: CallReplay = { extra: call.extra };
    const replay = { wire: 'chat' as const, model: this.#request.model.id, data };
    const item = toolCallItem(
      {
        type: 'function_call',
        id: newId('fc'),
        call_id: call.id,
        name: call.name,
        arguments: this.#argumentsOf(call),
        ...(Object.keys(call.extra).length > 0 ? { replay } : {}),
      },
      customToolNames(this.#request.tools),
    );
    return { type: 'item.completed', item: item.type === 'custom_tool_call' ? { ...item, id: newId('ctc') } : item };
  }

  #argumentsOf(call: AssembledCall): string {
    // An answer that was cut may have lost the arguments of its last call: those are then not empty but missing.
    if (this.#finish !== null && LIMITS.includes(this.#finish) && call.arguments.trim() === '') return call.arguments;
    return normaliseArguments(call.arguments, this.#schemas().get(call.name));
  }

  #schemas(): Map<string, JsonObject> {
    return new Map(
      this.#request.tools.flatMap((tool): [string, JsonObject][] => {
        if (tool.type === 'web_search') return [];
        return [[tool.name, tool.type === 'custom' ? CUSTOM_TOOL_PARAMETERS : tool.parameters]];
      }),
    );
  }
}

function failed(error: ModelError): ModelEvent {
  return { type: 'failed', error };
}

/** The error that a chunk is or holds; gateways send them in answers that began well. */
function errorIn(chunk: JsonObject, name: string | undefined): ModelError | null {
  if (chunk.error !== undefined && chunk.error !== null) return streamedError(errorOf(chunk), 'error');
  const inChoice = objectOf(arrayOf(chunk.choices)[0]).error;
  if (inChoice !== undefined && inChoice !== null) return streamedError(errorOf({ error: inChoice }), 'error');
  if (chunk.choices !== undefined) return null;
  const isError = name === 'error' || chunk.object === 'error' || chunk.type === 'error';
  const speaks = typeof chunk.message === 'string' || typeof chunk.detail === 'string';
  return isError || (speaks && chunk.usage === undefined) ? streamedError(errorOf(chunk), 'error') : null;
}

/** Counts in all their places; `cached_tokens` at the top is Moonshot's, `prompt_cache_hit_tokens` DeepSeek's. */
function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value)) return null;
  const input = numberOf(value.prompt_tokens) ?? numberOf(value.input_tokens);
  const output = numberOf(value.completion_tokens) ?? numberOf(value.output_tokens);
  if (input === undefined && output === undefined) return null;
  const cached =
    numberOf(objectOf(value.prompt_tokens_details).cached_tokens) ??
    numberOf(value.prompt_cache_hit_tokens) ??
    numberOf(value.cached_tokens) ??
    0;
  return {
    input_tokens: input ?? 0,
    cached_input_tokens: cached,
    cache_write_input_tokens: numberOf(objectOf(value.prompt_tokens_details).cache_write_tokens) ?? 0,
    output_tokens: output ?? 0,
    reasoning_output_tokens: numberOf(objectOf(value.completion_tokens_details).reasoning_tokens) ?? 0,
    total_tokens: numberOf(value.total_tokens) ?? (input ?? 0) + (output ?? 0),
  };
}
