/** The prompt as the model gets it: images first, then the text. */
import type { ContentPart, UserInput } from '../protocol/index.js';
import { loadImage } from '../tools/index.js';

export async function promptContent(input: readonly UserInput[]): Promise<ContentPart[]> {
  const images = input.filter(part => part.type === 'local_image');
  const parts: ContentPart[] = [];
  for (const [i, { path }] of images.entries()) {
    const image = await loadImage(path);
    if (typeof image === 'string') {
      parts.push({ type: 'input_text', text: `The image file \`${path}\` could not be used: ${image}` });
      continue;
    }
    parts.push({ type: 'input_text', text: `<image name=[Image #${i + 1}] path="${path}">` });
    parts.push({ type: 'input_image', image_url: image.url, detail: 'high' });
    parts.push({ type: 'input_text', text: '</image>' });
  }
  for (const part of input) if (part.type === 'text') parts.push({ type: 'input_text', text: part.text });
  return parts;
}

/** The text of a prompt, for titles and events. */
export function promptText(input: readonly UserInput[]): string {
  return input.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
