/**
 * The history as messages of the Messages API: user and assistant take turns, each step of the model is followed by one
 * user message that begins with the results of all its calls, thoughts go back as they came.
 */
import type { ContentPart, HistoryItem, ModelRequest, ToolCallItem, ToolCallOutputItem } from '../../protocol/index.js';
import { isObject } from '../../util/index.js';
import { wireCallId, wireName } from '../call-names.js';
import { familyOf } from '../families.js';
import {
  asFunctionCall,
  flatName,
  GO_ON,
  NO_OUTPUT,
  NO_RESULT,
  outputsByCall,
  splitGuidance,
  visibleOutput,
  visibleParts,
} from '../history-items.js';
import { arrayOf, objectOf, parseJson } from '../json.js';

export type Block = { type: string; [field: string]: unknown };
export type Message = { role: 'user' | 'assistant'; content: Block[] };

/** What a stream leaves in `replay.data`: blocks to send back as they are. */
export type BlocksReplay = { blocks: readonly unknown[] };

/** `guidance`: texts for the system prompt. `thoughts` false leaves thinking blocks out. */
export function historyMessages(request: ModelRequest, thoughts: boolean): { guidance: string[]; messages: Message[] } {
  const { guidance, rest } = splitGuidance(request.input);
  return {
    guidance: guidance.map(item => textOfParts(item.content)),
    messages: new Builder(request, thoughts).build(rest),
  };
}

class Builder {
  readonly #messages: Message[] = [];
  #outputs = new Map<string, ToolCallOutputItem[]>();
  #step: { blocks: Block[]; calls: ToolCallItem[] } = { blocks: [], calls: [] };
  readonly #request: ModelRequest;
  readonly #thoughts: boolean;

  constructor(request: ModelRequest, thoughts: boolean) {
    this.#request = request;
    this.#thoughts = thoughts;
  }

  build(items: readonly HistoryItem[]): Message[] {
    this.#outputs = outputsByCall(items);
    for (const item of items) this.#add(item);
    this.#endStep();
    // The first message and the last one have to be the user's.
    if (this.#messages[0]?.role === 'assistant')
      this.#messages.unshift({ role: 'user', content: [text('(earlier turns were left out)')] });
    if (this.#messages.at(-1)?.role !== 'user') this.#messages.push({ role: 'user', content: [text(GO_ON)] });
    return this.#messages;
  }

  #add(item: HistoryItem): void {
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') {
          this.#step.blocks.push(...(this.#replayed(item) ?? textBlocks(item.content)));
        } else {
          this.#endStep();
          this.#append('user', visibleParts(item.content, this.#request.model).flatMap(partBlocks));
        }
        return;
      case 'reasoning':
        this.#step.blocks.push(...(this.#replayed(item) ?? []).filter(block => this.#thoughts || !isThought(block)));
        return;
      case 'function_call':
      case 'custom_tool_call':
        this.#step.blocks.push(this.#encodeCall(item));
        this.#step.calls.push(item);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        // Already placed behind its step, or an answer to nothing.
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

  /** The blocks an item came from, for models of the same family only: signatures are bound to it. */
  #replayed({ replay }: HistoryItem): Block[] | null {
    if (replay?.wire !== 'messages' || familyOf(replay.model) !== familyOf(this.#request.model.id)) return null;
    return arrayOf(objectOf(replay.data).blocks).flatMap(block =>
      isObject(block) && typeof block.type === 'string' ? [{ ...block, type: block.type }] : [],
    );
  }

  #encodeCall(item: ToolCallItem): Block {
    const call = item.type === 'custom_tool_call' ? asFunctionCall(item) : item;
    const input = parseJson(call.arguments);
    return {
      type: 'tool_use',
      id: callId(call.call_id),
      name: wireName(flatName(call)),
      // Calls whose JSON was broken were answered with that; only their form has to be right here.
      input: isObject(input) ? input : {},
    };
  }

  #endStep(): void {
    const { blocks, calls } = this.#step;
    this.#step = { blocks: [], calls: [] };
    // Thoughts alone are no step: the answer they led to was lost.
    if (blocks.every(isThought)) return;
    this.#append('assistant', blocks);
    this.#append(
      'user',
      calls.map(call => this.#result(call)),
    );
  }

  #result(call: ToolCallItem): Block {
    const item = this.#outputs.get(call.call_id)?.shift();
    const tool_use_id = callId(call.call_id);
    if (item === undefined) {
      return { type: 'tool_result', tool_use_id, content: NO_RESULT, is_error: true };
    }
    const output = visibleOutput(item.output, this.#request.model);
    if (typeof output === 'string') {
      return { type: 'tool_result', tool_use_id, content: output.trim() === '' ? NO_OUTPUT : output };
    }
    const blocks = output.flatMap(partBlocks);
    return { type: 'tool_result', tool_use_id, content: blocks.length > 0 ? blocks : NO_OUTPUT };
  }

  #append(role: Message['role'], blocks: readonly Block[]): void {
    if (blocks.length === 0) return;
    const last = this.#messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else this.#messages.push({ role, content: [...blocks] });
  }
}

function isThought(block: Block): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function callId(id: string): string {
  return wireCallId(id, 'plain');
}

function text(value: string): Block {
  return { type: 'text', text: value };
}

/** Blank text blocks are refused. */
function textBlocks(parts: readonly ContentPart[]): Block[] {
  return parts.flatMap(part => (part.type === 'input_image' || part.text.trim() === '' ? [] : [text(part.text)]));
}

function partBlocks(part: ContentPart): Block[] {
  return part.type === 'input_image' ? [imageBlock(part.image_url)] : textBlocks([part]);
}

function imageBlock(url: string): Block {
  const data = /^data:(image\/(?:png|jpeg|gif|webp));base64,(.+)$/s.exec(url);
  if (data) return { type: 'image', source: { type: 'base64', media_type: data[1], data: data[2] } };
  if (/^https?:/.test(url)) return { type: 'image', source: { type: 'url', url } };
  return text('[an image was left out: its format is not supported]');
}

function textOfParts(parts: readonly ContentPart[]): string {
  return textBlocks(parts)
    .map(block => block.text)
    .join('\n\n');
}
