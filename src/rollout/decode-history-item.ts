/** Items of the history as a file holds them, made into ours: unknown kinds and parts go, known fields stay. */
import type { ContentPart, HistoryItem, MessageItem, MessageRole, Replay, ToolOutput } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { asArray, asFields, asString, type Fields } from './fields.js';
import type { ImageShelf } from './store-once.js';

const ROLES: readonly string[] = ['developer', 'user', 'assistant', 'system'] satisfies MessageRole[];
const OPAQUE: readonly string[] = [
  'web_search_call',
  'local_shell_call',
  'tool_search_call',
  'tool_search_output',
  'image_generation_call',
  'compaction',
] satisfies (HistoryItem & { [key: string]: unknown })['type'][];

/** Notes of the program that wrote the line; no model takes them. */
const PASSTHROUGH = 'internal_chat_message_metadata_passthrough';

/** Null for items of kinds we do not know, and for damaged ones. `shelf` holds the images read so far. */
export function decodeHistoryItem(item: Fields, shelf: ImageShelf): HistoryItem | null {
  const type = item['type'];
  const callId = asString(item['call_id']);
  switch (type) {
    case 'message':
      return decodeMessage(item, shelf);
    case 'reasoning':
      return decodeReasoning(item);
    case 'function_call': {
      const name = asString(item['name']);
      const args = asString(item['arguments']);
      if (callId === null || name === null || args === null) return null;
      const namespace = asString(item['namespace']);
      const named = namespace === null ? { name } : { name, namespace };
      return { type, ...common(item), call_id: callId, ...named, arguments: args };
    }
    case 'custom_tool_call': {
      const name = asString(item['name']);
      const input = asString(item['input']);
      if (callId === null || name === null || input === null) return null;
      return { type, ...common(item), call_id: callId, name, input };
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (callId === null) return null;
      return { type, ...common(item), call_id: callId, output: decodeOutput(item['output'], shelf) };
    default:
      return typeof type === 'string' && OPAQUE.includes(type) ? decodeOpaque(item) : null;
  }
}

function common(item: Fields): { id?: string; replay?: Replay } {
  const id = asString(item['id']);
  const replay = decodeReplay(asFields(item['replay']));
  return { ...(id === null ? {} : { id }), ...(replay === null ? {} : { replay }) };
}

function decodeReplay(replay: Fields | null): Replay | null {
  const wire = replay?.['wire'];
  const model = asString(replay?.['model']);
  if (model === null || (wire !== 'responses' && wire !== 'chat' && wire !== 'messages')) return null;
  return { wire, model, data: replay?.['data'] };
}

function decodeMessage(item: Fields, shelf: ImageShelf): HistoryItem | null {
  const role = item['role'];
  if (!isRole(role)) return null;
  const content = decodeParts(item['content'], role === 'assistant' ? 'output_text' : 'input_text', shelf);
  const message: MessageItem = { type: 'message', ...common(item), role, content };
  const phase = item['phase'];
  return phase === 'commentary' || phase === 'final_answer' ? { ...message, phase } : message;
}

function isRole(value: unknown): value is MessageRole {
  return typeof value === 'string' && ROLES.includes(value);
}

/** Parts of a message or an output. A plain text counts as one part. */
function decodeParts(content: unknown, plain: 'input_text' | 'output_text', shelf: ImageShelf): ContentPart[] {
  if (typeof content === 'string') return [{ type: plain, text: content }];
  const parts: ContentPart[] = [];
  for (const part of asArray(content) ?? []) {
    const decoded = isObject(part) ? decodePart(part, shelf) : null;
    if (decoded !== null) parts.push(decoded);
  }
  return parts;
}

function decodePart(part: Fields, shelf: ImageShelf): ContentPart | null {
  const type = part['type'];
  if (type === 'input_text' || type === 'output_text') {
    const text = asString(part['text']);
    return shelf.restore(part) ?? (text === null ? null : { type, text });
  }
  if (type !== 'input_image') return null;
  const url = asString(part['image_url']);
  if (url !== null) shelf.keep(url);
  const detail = asString(part['detail']);
  return url === null ? null : { type, image_url: url, ...(detail === null ? {} : { detail }) };
}

/** Some programs wrap the output in an object with `content`. */
function decodeOutput(output: unknown, shelf: ImageShelf): ToolOutput {
  if (typeof output === 'string') return output;
  if (Array.isArray(output)) return decodeParts(output, 'input_text', shelf);
  const content = asFields(output)?.['content'];
  if (content !== undefined) return decodeOutput(content, shelf);
  return output === undefined || output === null ? '' : JSON.stringify(output);
}

function decodeReasoning(item: Fields): HistoryItem {
  const texts = (value: unknown) => (asArray(value) ?? []).map(part => asString(asFields(part)?.['text']) ?? '');
  const content = asArray(item['content']);
  return {
    type: 'reasoning',
    ...common(item),
    summary: texts(item['summary']).map(text => ({ type: 'summary_text', text })),
    content: content === null ? null : texts(content).map(text => ({ type: 'reasoning_text', text })),
    encrypted_content: asString(item['encrypted_content']),
  };
}

function decodeOpaque(item: Fields): HistoryItem {
  const { [PASSTHROUGH]: _notes, ...rest } = item;
  // The type was checked by the caller; everything else in it is opaque by definition.
  return rest as HistoryItem;
}
