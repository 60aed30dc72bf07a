import { describe, expect, test } from 'vitest';
import { McpWorld } from './support.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function outputOf(result: object, budget = 40_000) {
  const world = new McpWorld();
  const thread = await world.thread([world.scripted({ tools: [{ name: 't', result }] })]);
  return thread.call('mcp__fk__t', {}, { output_budget_bytes: budget });
}

const text = (value: string) => ({ type: 'text', text: value });

describe('what the model sees of a result', () => {
  test.each([
    ['texts, in their order', { content: [text('a'), text('b')] }, 'a\nb'],
    ['nothing', { content: [] }, '(the tool returned nothing)'],
    ['no content at all', {}, '(the tool returned nothing)'],
    ['structured content alone', { content: [], structuredContent: { v: 1 } }, '{"v":1}'],
    ['content and structured content that differ', { content: [text('a')], structuredContent: { v: 1 } }, 'a\n{"v":1}'],
    [
      'structured content that is in a text as well',
      { content: [text('{ "v": 1 }')], structuredContent: { v: 1 } },
      '{ "v": 1 }',
    ],
    [
      'audio',
      { content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] },
      "[audio, audio/wav, 3 bytes: it can't be shown]",
    ],
    ['a text in a wrapping', { content: [text('a')], structuredContent: { content: 'a' } }, 'a'],
    [
      'links',
      { content: [{ type: 'resource_link', uri: 'file:///a', name: 'A', description: 'about' }] },
      '[resource file:///a: A, about]',
    ],
    [
      'a text resource',
      { content: [{ type: 'resource', resource: { uri: 'x://a', mimeType: 'text/plain', text: 'inside' } }] },
      '[resource x://a]\ninside',
    ],
    [
      'a binary resource',
      { content: [{ type: 'resource', resource: { uri: 'x://a', mimeType: 'application/pdf', blob: 'AAAA' } }] },
      "[resource x://a, application/pdf, 3 bytes: it can't be shown]",
    ],
    [
      'a picture of a type that models do not take',
      { content: [{ type: 'image', mimeType: 'image/tiff', data: 'AAAA' }] },
      "[image, image/tiff, 3 bytes: this type can't be shown]",
    ],
    [
      'blocks nobody knows',
      { content: [{ type: 'hologram', x: 1 }, 'bare', null] },
      '{"type":"hologram","x":1}\nbare\nnull',
    ],
    ['structured content that is no object', { content: [text('a')], structuredContent: [1] }, 'a\n[1]'],
    ['content that is no list', { content: text('a') }, 'a'],
  ])('%s', async (_, result, seen) => {
    expect(await outputOf(result)).toMatchObject({ output: seen, is_error: false });
  });

  test('pictures are pictures', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: PIXEL };
    const resource = { type: 'resource', resource: { uri: 'x://p', mimeType: 'image/png', blob: PIXEL } };
    const { output } = await outputOf({ content: [text('look'), image, resource] });
    const part = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'high' };
    expect(output).toEqual([{ type: 'input_text', text: 'look\n[resource x://p]' }, part, part]);
  });

  test('more than ten pictures, or one that is too large, are mentioned', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: PIXEL };
    const large = { ...image, data: 'A'.repeat(8 * 1024 * 1024) };
    const { output } = await outputOf({ content: [large, ...Array.from({ length: 12 }, () => image)] });
    expect(output).toHaveLength(11);
    expect(output[0]).toMatchObject({
      text: expect.stringMatching(/too large to be shown\]\n\[image, image\/png: more than 10/),
    });
  });

  test('long text keeps its head and tail', async () => {
    const { text: seen } = await outputOf({ content: [text(`head${'x'.repeat(10_000)}tail`)] }, 400);
    expect(seen).toMatch(/^headx{196}…2402 tokens truncated…x{196}tail$/);
  });
});

test('events and rollouts keep a mebibyte of a result', async () => {
  const many = Array.from({ length: 5 }, (_, i) => text(`${i}${'y'.repeat(600_000)}`));
  const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(2_000_000) };
  const { items } = await outputOf({ content: [...many, image], structuredContent: { z: 'z'.repeat(2_000_000) } });
  expect(JSON.stringify(items).length).toBeLessThan(1_200_000);
  const [item] = items;
  if (item?.type !== 'mcp_tool_call') throw new Error('no item');
  expect(item.result?.content).toHaveLength(7);
  expect(item.result?.content[0]).toMatchObject({ text: expect.stringContaining('bytes omitted') });
  expect(item.result?.content[5]).toMatchObject({ type: 'text', text: expect.stringContaining('[image of ') });
  expect(item.result?.structured_content).toBeUndefined();
});
