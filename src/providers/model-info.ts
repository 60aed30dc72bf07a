/** What is known about a model: the catalogue, the user's own catalogue over it, rules by family below it. */
import type { ModelInfo, ProviderSettings } from '../protocol/index.js';
import { type CatalogueEntry, catalogueFile } from './catalogue.js';
import shipped from './catalogue.json' with { type: 'json' };
import { bareName, type Family, familyOf } from './families.js';

/** Checked by a test and not at each start. */
const SHIPPED: readonly CatalogueEntry[] = shipped.models;

export type ModelInfoOptions = {
  /** Path of `model_catalog_json`, absolute. */
  readonly catalogPath?: string | null;
  /** `model_context_window`, tokens. */
  readonly contextWindow?: number | null;
};

/**
 * The entry of the user's catalogue, else of ours, else the rules of the model's family with `known: false`. Throws
 * SettingsError when the user's catalogue can't be read.
 */
export function modelInfo(modelId: string, provider: ProviderSettings, options: ModelInfoOptions = {}): ModelInfo {
  const own = options.catalogPath ? findEntry(catalogueFile(options.catalogPath), modelId) : undefined;
  const entry = own ?? findEntry(SHIPPED, modelId);
  const info = fill(modelId, entry);
  const window = options.contextWindow ?? (own ? null : localWindow(provider));
  return window === null ? info : { ...info, context_window: window };
}

/** Windows of local servers are what their operator set, mostly far below what the model could take. */
function localWindow(provider: ProviderSettings): number | null {
  return provider.id === 'ollama' || provider.id === 'lmstudio' ? 32_768 : null;
}

/** The entry with this id, with or without a vendor in front, a date, or a tag such as `-latest` or `:free` behind. */
function findEntry(entries: readonly CatalogueEntry[], modelId: string): CatalogueEntry | undefined {
  const exact = entries.find(entry => entry.ids.includes(modelId));
  if (exact) return exact;
  const name = bareName(modelId);
  let best: { entry: CatalogueEntry; length: number } | undefined;
  for (const entry of entries) {
    for (const id of entry.ids) {
      const known = bareName(id);
      if (!name.startsWith(known) || !isTag(name.slice(known.length))) continue;
      if (!best || known.length > best.length) best = { entry, length: known.length };
    }
  }
  return best?.entry;
}

function isTag(rest: string): boolean {
  return (
    rest === '' || /^[-:@](?:\d{4}.*|latest|preview.*|exp.*|free|thinking|nitro|floor|online|fp8|cloud)$/.test(rest)
  );
}

type Rules = Omit<ModelInfo, 'id' | 'known'>;

/** Nothing is promised about a model that nobody described. */
const CAUTIOUS: Rules = {
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
};

/** What holds for every member of a family so far; windows are those of the smaller members. */
const FAMILY_RULES: Readonly<Record<Family, Partial<Rules>>> = {
  gpt: {},
  'gpt-oss': { context_window: 131_072, images: false },
  claude: { context_window: 200_000, max_output_tokens: 64_000 },
  kimi: { context_window: 262_144 },
  glm: { context_window: 200_000, images: false },
  deepseek: { context_window: 131_072, images: false },
  qwen: { context_window: 262_144, images: false },
  gemini: { context_window: 1_048_576 },
  grok: { context_window: 256_000 },
  mistral: { context_window: 131_072, images: false },
  minimax: { context_window: 204_800, images: false },
  other: {},
};

function fill(id: string, entry: CatalogueEntry | undefined): ModelInfo {
  const rules = { ...CAUTIOUS, ...FAMILY_RULES[familyOf(id)] };
  if (entry === undefined) return { id, known: false, ...rules };
  const { ids: _ids, ...facts } = entry;
  return { id, known: true, ...rules, ...facts };
}
