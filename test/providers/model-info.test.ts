/** What is known about models, ours and the user's, and how cautious the rest is. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { modelInfo } from '../../src/providers/index.js';
import { settingsFor } from './support.js';

const provider = settingsFor();

test('an unknown model is taken cautiously', () => {
  expect(modelInfo('mock-model', provider)).toEqual({
    id: 'mock-model',
    known: false,
    context_window: 272_000,
    max_output_tokens: null,
    images: true,
    parallel_tool_calls: true,
    custom_tools: false,
    reasoning_efforts: [],
    default_reasoning_effort: null,
    reasoning_summaries: false,
    verbosity: false,
    price: null,
  });
});

test.each([
  [
    'gpt-5.4',
    { known: true, context_window: 272_000, custom_tools: true, default_reasoning_effort: 'medium', verbosity: true },
  ],
  [
    'gpt-5.2-2025-12-11',
    { known: true, context_window: 272_000, price: { input: 1.75, cached_input: 0.175, output: 14 } },
  ],
  ['openai.gpt-5.6-sol', { known: true, custom_tools: true }],
  ['us.anthropic.claude-opus-4-8', { known: true, context_window: 1_000_000 }],
  ['openai/gpt-5.2', { known: true, custom_tools: true }],
  ['claude-haiku-4-5-20251001', { known: true, context_window: 200_000, max_output_tokens: 64_000 }],
  ['anthropic/claude-opus-4.8', { known: true, context_window: 1_000_000 }],
  ['claude-sonnet-5-5', { known: false, context_window: 200_000 }],
  ['moonshotai/kimi-k3', { known: true, context_window: 1_048_576, images: true }],
  ['k3', { known: true, reasoning_efforts: ['low', 'high', 'max'] }],
  ['kimi-k3.1-pro', { known: false, context_window: 262_144 }],
  ['glm-5.3', { known: false, context_window: 200_000, images: false }],
  ['glm-4.7', { known: true, context_window: 204_800 }],
  ['accounts/fireworks/models/deepseek-v4-pro', { known: true, images: false }],
  ['qwen3.8-max', { known: false, context_window: 262_144 }],
  ['models/gemini-3.6-flash', { known: true, context_window: 1_048_576 }],
  ['MiniMax-M3', { known: true, context_window: 512_000 }],
  ['openai/gpt-oss-120b:free', { known: true, context_window: 131_072, images: false }],
])('%s', (id, expected) => {
  expect(modelInfo(id, provider)).toMatchObject({ id, ...expected });
});

test('our catalogue is one that a user could have written', () => {
  const catalogPath = join(import.meta.dirname, '../../src/providers/catalogue.json');
  for (const id of ['gpt-5.4', 'glm-5', 'gpt-5.2'])
    expect(modelInfo(id, provider, { catalogPath })).toEqual(modelInfo(id, provider));
});

test('a mini model is not taken for its big sister', () => {
  expect(modelInfo('gpt-5.2-mini', provider).known).toBe(false);
});

test('local servers are thought to have small windows unless they are told', () => {
  const ollama = settingsFor({ id: 'ollama' });
  expect(modelInfo('qwen3-coder-next', ollama).context_window).toBe(32_768);
  expect(modelInfo('qwen3-coder-next', ollama, { contextWindow: 100_000 }).context_window).toBe(100_000);
});

describe('the catalogue of the user', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'catalogue-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const catalogue = async (content: unknown) => {
    const file = join(folder, 'models.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return { catalogPath: file };
  };

  test('wins over ours; what it leaves out follows the family', async () => {
    const options = await catalogue({
      models: [
        { id: 'glm-5', context_window: 1000, price: { input: 1, cached_input: 0, output: 2 } },
        {
          ids: ['a', 'b'],
          context_window: 2000,
          images: false,
          reasoning_efforts: ['on'],
          default_reasoning_effort: 'on',
          max_output_tokens: null,
        },
      ],
    });
    expect(modelInfo('glm-5', provider, options)).toMatchObject({
      known: true,
      context_window: 1000,
      images: false,
      reasoning_efforts: [],
      price: { output: 2 },
    });
    expect(modelInfo('b', provider, options)).toMatchObject({
      known: true,
      context_window: 2000,
      reasoning_efforts: ['on'],
    });
    expect(modelInfo('gpt-5.4', provider, options)).toMatchObject({ known: true, context_window: 272_000 });
    expect(modelInfo('b', settingsFor({ id: 'ollama' }), options).context_window).toBe(2000);
  });

  test('may be one of codex', async () => {
    const options = await catalogue({
      models: [
        {
          slug: 'x',
          context_window: 3000,
          supported_reasoning_levels: [{ effort: 'low' }, { effort: 'high' }],
          default_reasoning_level: 'low',
          supports_reasoning_summaries: true,
          support_verbosity: true,
          apply_patch_tool_type: 'freeform',
          supports_parallel_tool_calls: false,
          input_modalities: ['text'],
        },
      ],
    });
    expect(modelInfo('x', provider, options)).toMatchObject({
      context_window: 3000,
      reasoning_efforts: ['low', 'high'],
      default_reasoning_effort: 'low',
      reasoning_summaries: true,
      verbosity: true,
      custom_tools: true,
      parallel_tool_calls: false,
      images: false,
    });
  });

  test.each([
    ['{', 'no JSON'],
    [{}, '`models`'],
    [{ models: [3] }, 'model 1 is no object'],
    [{ models: [{ context_window: 1 }] }, '`id`'],
    [{ models: [{ id: 'x', context_window: '9' }] }, '(x): `context_window`'],
    [{ models: [{ id: 'x', images: 1 }] }, '(x): `images`'],
    [{ models: [{ id: 'x', reasoning_efforts: 'low' }] }, '(x): `reasoning_efforts`'],
    [{ models: [{ id: 'x', default_reasoning_effort: 3 }] }, '(x): `default_reasoning_effort`'],
    [{ models: [{ id: 'x', price: { input: 1 } }] }, '(x): `price`'],
  ])('%j is refused by name', async (content, message) => {
    const options = await catalogue(content);
    expect(() => modelInfo('x', provider, options)).toThrow(message);
    expect(() => modelInfo('x', provider, options)).toThrow(options.catalogPath);
  });

  test('that is not there is refused by name', () => {
    expect(() => modelInfo('x', provider, { catalogPath: join(folder, 'none.json') })).toThrow('none.json');
  });
});
