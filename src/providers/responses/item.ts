/** Output items of the Responses API -> history items. */
import type { ContentPart, HistoryItem, OpaqueItem } from '../../protocol/index.js';
import { isObject } from '../../util/index.js';
import { isJsonObject, toolCallItem } from '../history-items.js';
import { newId } from '../ids.js';
import { arrayOf, type JsonObject, objectOf, textOf } from '../json.js';

/** The item, or null for one that is cut (`status: incomplete`) or of a kind that was never offered. */
export function readItem(raw: JsonObject, customTools: ReadonlySet<string>): HistoryItem | null {
  const id = textOf(raw.id);
  switch (raw.type) {
    case 'message':
      return {
        type: 'message',
        id: id || newId('msg'),
        role: 'assistant',
        content: readContent(raw.content),
        ...(raw.phase === 'commentary' || raw.phase === 'final_answer' ? { phase: raw.phase } : {}),
      };
    case 'reasoning':
      return readReasoning(raw, id || newId('rs'));
    case 'function_call':
      if (raw.status === 'incomplete') return null;
      return toolCallItem(
        {
          type: 'function_call',
          ...(id === '' ? {} : { id }),
          call_id: textOf(raw.call_id) || id || newId('call'),
          name: textOf(raw.name),
          ...(typeof raw.namespace === 'string' ? { namespace: raw.namespace } : {}),
          arguments: argumentsText(raw.arguments),
        },
        customTools,
      );
    case 'custom_tool_call':
      if (raw.status === 'incomplete') return null;
      return {
        type: 'custom_tool_call',
        ...(id === '' ? {} : { id }),
        call_id: textOf(raw.call_id) || id || newId('call'),
        name: textOf(raw.name),
        input: textOf(raw.input),
      };
    case 'web_search_call':
    case 'local_shell_call':
    case 'tool_search_call':
    case 'tool_search_output':
    case 'image_generation_call':
    case 'compaction':
      return { ...raw, type: raw.type } satisfies OpaqueItem;
    default:
      return null;
  }
}

/** False for a call whose arguments are no JSON object: it may be cut. */
export function isWhole(item: HistoryItem): boolean {
  return item.type !== 'function_call' || isJsonObject(item.arguments);
}

function readContent(value: unknown): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'output_text', text: value }];
  return arrayOf(value).flatMap((part): ContentPart[] => {
    const { type, text, refusal } = objectOf(part);
    if (type === 'refusal') return [{ type: 'output_text', text: textOf(refusal) }];
    return typeof text === 'string' ? [{ type: 'output_text', text }] : [];
  });
}

function readReasoning(raw: JsonObject, id: string): HistoryItem {
  const summary = arrayOf(raw.summary).map(part => ({
    type: 'summary_text' as const,
    text: textOf(objectOf(part).text),
  }));
  const content = arrayOf(raw.content).map(part => ({
    type: 'reasoning_text' as const,
    text: textOf(objectOf(part).text),
  }));
  return {
    type: 'reasoning',
    id,
    summary,
    ...(content.length > 0 ? { content } : {}),
    encrypted_content: typeof raw.encrypted_content === 'string' ? raw.encrypted_content : null,
  };
}

/** Local servers send objects, or nothing for a tool without parameters. */
function argumentsText(value: unknown): string {
  if (isObject(value)) return JSON.stringify(value);
  const text = textOf(value);
  return text.trim() === '' ? '{}' : text;
}
