/**
 * The history as chat messages, in an order that the strictest service takes: one system message first, every tool
 * result directly behind its calls, no call without a result, no message without content.
 */
import type {
  ContentPart,
  HistoryItem,
  ModelRequest,
  ReasoningHistoryItem,
  ToolCallItem,
  ToolCallOutputItem,
} from '../../protocol/index.js';
import { wireCallId, wireName } from '../call-names.js';
import { familyOf } from '../families.js';
import {
  asFunctionCall,
  flatName,
  GO_ON,
  isJsonObject,
  NO_OUTPUT,
  NO_RESULT,
  outputsByCall,
  splitGuidance,
  visibleOutput,
  visibleParts,
} from '../history-items.js';
import { arrayOf, objectOf, textOf } from '../json.js';
import type { ChatQuirks } from './quirks.js';

export type ChatMessage = { role: 'system' | 'user' | 'assistant' | 'tool'; [field: string]: unknown };

/** What a chat stream leaves in `replay.data` of a reasoning item; the text itself is in the item. */
export type ReasoningReplay = {
  /** The field that brought it, which takes it back; `thinking` = a content part. */
  field: 'reasoning_content' | 'reasoning' | 'thinking';
  details?: readonly unknown[];
};

/** What it leaves in `replay.data` of a call: fields that only the service understands. */
export type CallReplay = { extra: Readonly<Record<string, unknown>> };

/** `words`: a further text for the end of the system message. */
export function chatMessages(request: ModelRequest, quirks: ChatQuirks, words: string | undefined): ChatMessage[] {
  const { guidance, rest } = splitGuidance(request.input);
  const texts = [request.instructions, ...guidance.map(item => plainText(item.content)), words ?? ''];
  const system = texts.filter(text => text.trim() !== '').join('\n\n');
  const history = new Builder(request, quirks).build(rest);
  const messages = system === '' ? history : [{ role: 'system' as const, content: system }, ...history];
  const last = history.at(-1)?.role;
  if (last === undefined || last === 'assistant') messages.push({ role: 'user', content: GO_ON });
  return quirks.answerAfterTool ? withAnswers(messages) : messages;
}

type Step = { reasoning: ReasoningHistoryItem[]; texts: string[]; calls: ToolCallItem[] };

class Builder {
  readonly #messages: ChatMessage[] = [];
  #outputs = new Map<string, ToolCallOutputItem[]>();
  #step: Step = emptyStep();
  readonly #request: ModelRequest;
  readonly #quirks: ChatQuirks;

  constructor(request: ModelRequest, quirks: ChatQuirks) {
    this.#request = request;
    this.#quirks = quirks;
  }

  build(items: readonly HistoryItem[]): ChatMessage[] {
    this.#outputs = outputsByCall(items);
    for (const item of items) this.#add(item);
    this.#endStep();
    return this.#messages;
  }

  #add(item: HistoryItem): void {
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') {
          const text = plainText(item.content, '');
          if (text !== '') this.#step.texts.push(text);
        } else {
          this.#endStep();
          this.#addUser(item.content);
        }
        return;
      case 'reasoning':
        this.#step.reasoning.push(item);
        return;
      case 'function_call':
      case 'custom_tool_call':
        this.#step.calls.push(item);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        // Already placed behind its call, or an answer to nothing, which no service takes.
        this.#endStep();
        return;
      case 'web_search_call':
      case 'local_shell_call':
      case 'tool_search_call':
      case 'tool_search_output':
      case 'image_generation_call':
      case 'compaction':
        return;
    }
  }

  #addUser(parts: readonly ContentPart[]): void {
    const content = userContent(visibleParts(parts, this.#request.model));
    if (content !== null) this.#messages.push({ role: 'user', content });
  }

  /** The model's step as one message, then the results of its calls, then the pictures in them. */
  #endStep(): void {
    const { reasoning, texts, calls } = this.#step;
    this.#step = emptyStep();
    if (texts.length === 0 && calls.length === 0) return;
    const text = texts.join('\n\n');
    const replayed = this.#replayed(reasoning, text, calls.length > 0);
    this.#messages.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length > 0 ? { tool_calls: calls.map((call, index) => this.#encodeCall(call, index)) } : {}),
      ...replayed,
    });
    const images = calls.flatMap(call => this.#addResult(call));
    if (images.length > 0) this.#messages.push({ role: 'user', content: images });
  }

  /** What was received as reasoning, in the field it came in, for models of the same family only. */
  #replayed(items: readonly ReasoningHistoryItem[], text: string, hasCalls: boolean): Record<string, unknown> {
    const quirks = this.#quirks;
    const request = this.#request;
    const own = items.filter(
      item => item.replay?.wire === 'chat' && familyOf(item.replay.model) === familyOf(request.model.id),
    );
    const [first] = own;
    if (first === undefined || !quirks.replayReasoning) {
      return quirks.emptyReasoning && hasCalls ? { reasoning_content: '' } : {};
    }
    const { field } = objectOf(first.replay?.data);
    const thought = own
      .flatMap(item => item.content ?? [])
      .map(part => part.text)
      .join('');
    const details = own.flatMap(item => arrayOf(objectOf(item.replay?.data).details));
    if (field === 'thinking') {
      const parts = [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }];
      return { content: text === '' ? parts : [...parts, { type: 'text', text }] };
    }
    return {
      ...(thought === '' && details.length > 0 ? {} : { [textOf(field) || 'reasoning_content']: thought }),
      ...(details.length > 0 ? { reasoning_details: details } : {}),
    };
  }

  #encodeCall(item: ToolCallItem, index: number): Record<string, unknown> {
    const call = item.type === 'custom_tool_call' ? asFunctionCall(item) : item;
    return {
      id: this.#callId(item.call_id),
      type: 'function',
      function: {
        name: wireName(flatName(call)),
        // Calls whose JSON was broken were answered with that; only their form has to be right here.
        arguments: isJsonObject(call.arguments) ? call.arguments : '{}',
      },
      ...this.#callExtra(item, index),
    };
  }

  #callExtra(item: ToolCallItem, index: number): Readonly<Record<string, unknown>> {
    const { replay } = item;
    if (replay?.wire === 'chat' && familyOf(replay.model) === familyOf(this.#request.model.id)) {
      return objectOf(objectOf(replay.data).extra);
    }
    if (!this.#quirks.thoughtSignatures || index > 0) return {};
    // The value that Google documents for calls another model made.
    return { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };
  }

  /** Adds the tool message of a call; gives the pictures of its result as parts of a user message. */
  #addResult(call: ToolCallItem): Record<string, unknown>[] {
    const item = this.#outputs.get(call.call_id)?.shift();
    const output = item === undefined ? NO_RESULT : visibleOutput(item.output, this.#request.model);
    const text = typeof output === 'string' ? output : plainText(output);
    const images = typeof output === 'string' ? [] : output.filter(part => part.type === 'input_image');
    const shown = text.trim() !== '' ? text : images.length > 0 ? '(the image follows)' : NO_OUTPUT;
    this.#messages.push({ role: 'tool', tool_call_id: this.#callId(call.call_id), content: shown });
    if (images.length === 0) return [];
    return [{ type: 'text', text: `Images from the result of ${wireName(call.name)}:` }, ...images.flatMap(imagePart)];
  }

  #callId(id: string): string {
    return wireCallId(id, this.#quirks.shortIds ? 'short' : 'free');
  }
}

function emptyStep(): Step {
  return { reasoning: [], texts: [], calls: [] };
}

/** A text where it is text only, parts where there are pictures, null where there is nothing. */
function userContent(parts: readonly ContentPart[]): string | Record<string, unknown>[] | null {
  if (!parts.some(part => part.type === 'input_image')) {
    const text = plainText(parts);
    return text.trim() === '' ? null : text;
  }
  return parts.flatMap(part => {
    if (part.type === 'input_image') return imagePart(part);
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  });
}

function imagePart(part: ContentPart): Record<string, unknown>[] {
  if (part.type !== 'input_image') return [];
  const detail =
    part.detail === undefined || !['auto', 'low', 'high'].includes(part.detail) ? {} : { detail: part.detail };
  return [{ type: 'image_url', image_url: { url: part.image_url, ...detail } }];
}

function plainText(parts: readonly ContentPart[], between = '\n\n'): string {
  return parts
    .flatMap(part => (part.type === 'input_image' ? [] : [part.text]))
    .filter(text => text !== '')
    .join(between);
}

/** A short answer between a tool result and a user message, where a service refuses that order. */
function withAnswers(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.flatMap((message, index) =>
    message.role === 'user' && messages[index - 1]?.role === 'tool'
      ? [{ role: 'assistant' as const, content: 'Understood.' }, message]
      : [message],
  );
}
