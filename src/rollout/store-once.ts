/**
 * Large things are written once per file. An image that a file already holds is written as a short text part that other
 * programs read as text and we turn back; items never repeat what another field of the same line, or the history, holds.
 */
import { createHash } from 'node:crypto';
import type { ContentPart, HistoryItem } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { asArray, asFields, asString, type Fields } from './fields.js';
import type { RolloutLine } from './lines.js';

/** Images and outputs below this many characters are repeated; a mark would save too little. */
const LARGE = 4096;

/** The field of a text part that names the image it stands for. */
const IMAGE_MARK = 'interpreter_image';

/** The line as it goes into the file. `seen` holds the images of this file and is added to. */
export function storeOnce(line: RolloutLine, seen: Set<string>): RolloutLine {
  switch (line.type) {
    case 'response_item':
      return { ...line, payload: markImages(line.payload, seen) };
    case 'compacted':
      return {
        ...line,
        payload: {
          ...line.payload,
          replacement_history: line.payload.replacement_history.map(item => markImages(item, seen)),
        },
      };
    case 'event_msg':
      if (line.payload.type !== 'item_completed') return line;
      return { ...line, payload: { ...line.payload, item: slimItem(line.payload.item) } };
    case 'session_meta':
    case 'turn_context':
    case 'world_state':
    case 'interpreter':
      return line;
  }
}

function markImages(item: HistoryItem, seen: Set<string>): HistoryItem {
  if (item.type === 'message' && item.content.some(isLargeImage)) {
    return { ...item, content: item.content.map(part => mark(part, seen)) };
  }
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item;
  if (typeof item.output === 'string' || !item.output.some(isLargeImage)) return item;
  return { ...item, output: item.output.map(part => mark(part, seen)) };
}

function isLargeImage(part: ContentPart): boolean {
  return part.type === 'input_image' && part.image_url.length >= LARGE;
}

function mark(part: ContentPart, seen: Set<string>): ContentPart {
  if (part.type !== 'input_image' || part.image_url.length < LARGE) return part;
  const hash = imageHash(part.image_url);
  if (!seen.has(hash)) {
    seen.add(hash);
    return part;
  }
  const marked = {
    type: 'input_text',
    text: '[an image shown earlier in this thread]',
    [IMAGE_MARK]: hash,
    ...(part.detail === undefined ? {} : { detail: part.detail }),
  } as const;
  return marked;
}

function imageHash(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

/** The images of one file while it is read. */
export class ImageShelf {
  readonly #images = new Map<string, string>();

  /** Takes note of a large image. */
  keep(url: string): void {
    if (url.length >= LARGE) this.#images.set(imageHash(url), url);
  }

  /** The image part that a marked part stands for; null for any other part, or when the image is not in the file. */
  restore(part: Fields): ContentPart | null {
    const hash = asString(part[IMAGE_MARK]);
    const url = hash === null ? undefined : this.#images.get(hash);
    if (url === undefined) return null;
    const detail = asString(part['detail']);
    return { type: 'input_image', image_url: url, ...(detail === null ? {} : { detail }) };
  }

  hashes(): string[] {
    return [...this.#images.keys()];
  }
}

/**
 * An item without what is elsewhere: a command's output stays in `aggregated_output` alone; the bytes of an image in a
 * tool result are in the output that showed it to the model.
 */
function slimItem(item: { readonly type: string }): { readonly type: string } {
  const fields: Fields = { ...item };
  if (item.type === 'CommandExecution') return { ...item, ...slimOutputs(fields) };
  if (item.type === 'McpToolCall') return { ...item, ...slimResult(fields) };
  return item;
}

function slimOutputs(fields: Fields): Fields {
  const output = asString(fields['aggregated_output']);
  if (output === null || output.length < LARGE) return {};
  const repeated = ['stdout', 'formatted_output'].filter(key => fields[key] === output);
  return Object.fromEntries(repeated.map(key => [key, '']));
}

function slimResult(fields: Fields): Fields {
  const result = asFields(fields['result']);
  const content = asArray(result?.['content']);
  if (!content?.some(isLargeBlock)) return {};
  return { result: { ...result, content: content.map(block => (isLargeBlock(block) ? emptied(block) : block)) } };
}

function isLargeBlock(block: unknown): block is Fields {
  return isObject(block) && block['type'] === 'image' && (asString(block['data'])?.length ?? 0) >= LARGE;
}

function emptied(block: Fields): Fields {
  return { ...block, data: '' };
}
