/** Shows an image file to the model. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { readableProblem } from '../sandbox/index.js';
import { messageOf } from '../util/index.js';
import { defineFunctionTool } from './define-tool.js';
import { policyPlaces } from './policy-places.js';
import type { ToolContext, ToolResult } from './tool.js';

/** Providers refuse larger ones; a base64 data URL is a third larger still. */
const MAX_BYTES = 20 * 1024 * 1024;

const MIME: Record<string, string> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' };

const input = z.object({
  path: z.string().describe('Path of a PNG, JPEG, GIF or WebP file.'),
  detail: z.enum(['high', 'original']).optional().describe('Resolution to look at; default high.'),
});

export const viewImageTool = defineFunctionTool({
  name: 'view_image',
  description: 'Loads an image file so that you can see it.',
  input,
  parallel: true,
  plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
  run: viewImage,
});

export async function viewImage(
  call: { readonly path: string; readonly detail?: 'high' | 'original' | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const file = path.resolve(context.cwd, call.path);
  const image = await loadImage(file, () => readableProblem(context.policy, policyPlaces(context), file));
  if (typeof image === 'string') return { output: image, is_error: true };
  const item = { type: 'image_view', id: context.call_id, path: file } as const;
  context.emit({ type: 'item.started', item, at_ms: Date.now() });
  context.emit({ type: 'item.completed', item, at_ms: Date.now() });
  return {
    output: [{ type: 'input_image', image_url: image.url, detail: call.detail ?? 'high' }],
    is_error: false,
  };
}

/** The image as a data URL, or what is wrong with it. */
export async function loadImage(
  file: string,
  forbidden: () => string | null = () => null,
): Promise<{ url: string } | string> {
  try {
    const denied = forbidden();
    if (denied) return `unable to read image at \`${file}\`: ${denied}`;
    const info = await stat(file);
    if (!info.isFile()) return `image path \`${file}\` is not a file`;
    if (info.size > MAX_BYTES) return `image at \`${file}\` has ${info.size} bytes; at most ${MAX_BYTES} can be sent`;
    const bytes = await readFile(file);
    const type = await imageType(bytes);
    const mime = MIME[type];
    if (!mime) return `file \`${file}\` is ${type || 'no image'}; PNG, JPEG, GIF and WebP can be shown`;
    return { url: `data:${mime};base64,${bytes.toString('base64')}` };
  } catch (error) {
    return `unable to locate image at \`${file}\`: ${messageOf(error)}`;
  }
}

/** `png`, `jpg` and so on; "" for what is no image. */
async function imageType(bytes: Uint8Array): Promise<string> {
  const { imageSize } = await import('image-size');
  try {
    return imageSize(bytes).type ?? '';
  } catch {
    // It throws for whatever it does not know.
    return '';
  }
}
