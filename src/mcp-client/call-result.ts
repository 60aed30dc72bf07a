/** The result of a call: as the model reads it, and as events and rollouts keep it. */
import { isDeepStrictEqual } from 'node:util';
import type { ContentPart, McpToolResult, ToolOutput } from '../protocol/index.js';
import { truncateMiddle } from '../util/index.js';

type Block = McpToolResult['content'][number];

/** What events and rollouts keep of one result, bytes. */
const KEPT_BYTES = 1024 * 1024;
const MAX_IMAGES = 10;
/** Base64 characters of one picture; services refuse larger ones. */
const MAX_IMAGE_CHARS = 7 * 1024 * 1024;
const SHOWN_IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

const tokensTruncated = (removed: number): string => `…${Math.ceil(removed / 4)} tokens truncated…`;

/** Texts first, in their order, then pictures. `budget`: bytes of text. */
export function modelOutput(result: McpToolResult, budget: number): ToolOutput {
  const images: ContentPart[] = [];
  const texts = result.content.map(block => describe(block, images));
  if (result.structured_content !== undefined) {
    const structured = JSON.stringify(result.structured_content);
    if (!isSaid(structured, result)) texts.push(structured);
  }
  const text = texts.filter(one => one !== '').join('\n');
  const shown = truncateMiddle(text, budget, tokensTruncated).text;
  if (images.length === 0) return shown === '' ? '(the tool returned nothing)' : shown;
  return [...(shown === '' ? [] : [{ type: 'input_text' as const, text: shown }]), ...images];
}

/** The result with what is too large cut or left out. The same object where nothing is. */
export function keptResult(result: McpToolResult): McpToolResult {
  const sizes = result.content.map(block => JSON.stringify(block).length);
  const structured = result.structured_content === undefined ? 0 : JSON.stringify(result.structured_content).length;
  if (sizes.reduce((sum, size) => sum + size, structured) <= KEPT_BYTES) return result;
  const share = Math.floor(KEPT_BYTES / (result.content.length + 1));
  const content = result.content.map((block, i) => ((sizes[i] ?? 0) <= share ? block : shortBlock(block, share)));
  const { structured_content: whole, ...rest } = result;
  if (structured <= share) return { ...rest, content, ...(whole === undefined ? {} : { structured_content: whole }) };
  const note = { type: 'text', text: `[structured content of ${structured} bytes is left out here]` };
  return { ...rest, content: [...content, note] };
}

/** Many servers put their structured content, written in one way or another, into a text block as well. */
function isSaid(structured: string, { content, structured_content }: McpToolResult): boolean {
  return content.some(({ type, text: said }) => {
    if (type !== 'text' || typeof said !== 'string' || said.length > 4 * structured.length + 100) return false;
    if (said.trim() === structured || said === onlyText(structured_content)) return true;
    try {
      return isDeepStrictEqual(JSON.parse(said), structured_content);
    } catch {
      // Prose.
      return false;
    }
  });
}

/** `{ content: "…" }`: the text of a block in a wrapping. */
function onlyText(structured: unknown): unknown {
  const values = typeof structured === 'object' && structured !== null ? Object.values(structured) : [];
  return values.length === 1 ? values[0] : undefined;
}

/** The text of a block; a picture goes to `images`. */
function describe(block: Block, images: ContentPart[]): string {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return image(text(block.data), text(block.mimeType), images);
    case 'audio':
      return `[audio, ${text(block.mimeType)}, ${bytesOf(text(block.data))} bytes: it can't be shown]`;
    case 'resource_link':
      return [
        `[resource ${text(block.uri)}: ${text(block.title) || text(block.name)}`,
        ...(block.mimeType === undefined ? [] : [`, ${text(block.mimeType)}`]),
        ...(block.description === undefined ? [] : [`, ${text(block.description)}`]),
        ']',
      ].join('');
    case 'resource':
      return resource((block.resource ?? {}) as Block, images);
    default:
      return JSON.stringify(block);
  }
}

function resource(content: Block, images: ContentPart[]): string {
  const uri = text(content.uri);
  const mime = text(content.mimeType);
  if (typeof content.text === 'string') return `[resource ${uri}]\n${content.text}`;
  const data = text(content.blob);
  if (SHOWN_IMAGES.has(mime)) return `[resource ${uri}]${image(data, mime, images)}`;
  return `[resource ${uri}, ${mime || 'of an unknown type'}, ${bytesOf(data)} bytes: it can't be shown]`;
}

function image(data: string, mime: string, images: ContentPart[]): string {
  if (!SHOWN_IMAGES.has(mime)) return `[image, ${mime}, ${bytesOf(data)} bytes: this type can't be shown]`;
  if (data.length > MAX_IMAGE_CHARS) return `[image, ${mime}, ${bytesOf(data)} bytes: too large to be shown]`;
  if (images.length >= MAX_IMAGES) return `[image, ${mime}: more than ${MAX_IMAGES} are not shown]`;
  images.push({ type: 'input_image', image_url: `data:${mime};base64,${data.replaceAll(/\s/g, '')}`, detail: 'high' });
  return '';
}

function shortBlock(block: Block, share: number): Block {
  const cut = (value: string) => truncateMiddle(value, share, removed => `\n[... ${removed} bytes omitted ...]\n`).text;
  if (typeof block.text === 'string') return { ...block, text: cut(block.text) };
  const inner = block.resource as Block | undefined;
  if (typeof inner?.text === 'string') return { ...block, resource: { ...inner, text: cut(inner.text) } };
  return { type: 'text', text: `[${text(block.type)} of ${JSON.stringify(block).length} bytes is left out here]` };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
