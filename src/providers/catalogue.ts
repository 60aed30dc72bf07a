/**
 * Reading a model catalogue: `{"models": [{"id": "…", "context_window": …}, …]}`, ours or the file of
 * `model_catalog_json`. Fields are those of `ModelInfo`; `ids` may stand for `id`. The names that codex catalogues use
 * (`slug`, `supported_reasoning_levels`, `input_modalities`, …) are understood too. What is left out follows the family.
 */
import { readFileSync } from 'node:fs';
import type { ModelInfo } from '../protocol/index.js';
import { isObject, messageOf } from '../util/index.js';
import { SettingsError } from './errors.js';
import { arrayOf, type JsonObject, numberOf, objectOf, parseJson } from './json.js';

export type CatalogueEntry = { readonly ids: readonly string[] } & Partial<Omit<ModelInfo, 'id' | 'known'>>;

/** The entries of a file. Throws SettingsError that names the file, the model and the field. */
export function catalogueFile(path: string): CatalogueEntry[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`The model catalogue ${path} can't be read: ${messageOf(error)}`, 'configuration', {
      cause: error,
    });
  }
  const value = parseJson(text);
  if (value === undefined)
    throw new SettingsError(`The model catalogue ${path} is no JSON. Correct the file or unset model_catalog_json.`);
  return readCatalogue(value, path);
}

/** The entries of a parsed catalogue; `source` is named in errors. */
function readCatalogue(value: unknown, source: string): CatalogueEntry[] {
  const models = Array.isArray(value) ? value : objectOf(value).models;
  if (!Array.isArray(models)) throw new SettingsError(`${source} has no list \`models\`.`);
  return models.map((model, index) => readEntry(model, `${source}, model ${index + 1}`));
}

function readEntry(value: unknown, where: string): CatalogueEntry {
  if (!isObject(value)) throw new SettingsError(`${where} is no object.`);
  const ids = Array.isArray(value.ids) ? value.ids : [value.id ?? value.slug];
  if (ids.length === 0 || !ids.every(id => typeof id === 'string')) throw new SettingsError(`${where} has no \`id\`.`);
  const at = `${where} (${ids[0]})`;
  return {
    ids,
    ...count(value, 'context_window', at),
    ...nullable(value, 'max_output_tokens', at),
    ...flag(value, 'images', at),
    ...flag(value, 'parallel_tool_calls', at),
    ...flag(value, 'custom_tools', at),
    ...flag(value, 'reasoning_summaries', at),
    ...flag(value, 'verbosity', at),
    ...efforts(value, at),
    ...price(value, at),
    ...codexNames(value),
  };
}

type Facts = Partial<CatalogueEntry>;

function count(value: JsonObject, name: 'context_window', at: string): Facts {
  const found = value[name];
  if (found === undefined) return {};
  return { [name]: positive(found, name, at) };
}

function nullable(value: JsonObject, name: 'max_output_tokens', at: string): Facts {
  const found = value[name];
  if (found === undefined) return {};
  return { [name]: found === null ? null : positive(found, name, at) };
}

function positive(value: unknown, name: string, at: string): number {
  const number = numberOf(value);
  if (number === undefined || number <= 0) throw new SettingsError(`${at}: \`${name}\` must be a number above 0.`);
  return number;
}

function flag(
  value: JsonObject,
  name: 'images' | 'parallel_tool_calls' | 'custom_tools' | 'reasoning_summaries' | 'verbosity',
  at: string,
): Facts {
  const found = value[name];
  if (found === undefined) return {};
  if (typeof found !== 'boolean') throw new SettingsError(`${at}: \`${name}\` must be true or false.`);
  return { [name]: found };
}

function efforts(value: JsonObject, at: string): Facts {
  const { reasoning_efforts: list, default_reasoning_effort: chosen } = value;
  if (list !== undefined && !(Array.isArray(list) && list.every(effort => typeof effort === 'string'))) {
    throw new SettingsError(`${at}: \`reasoning_efforts\` must be a list of texts.`);
  }
  if (chosen !== undefined && chosen !== null && typeof chosen !== 'string') {
    throw new SettingsError(`${at}: \`default_reasoning_effort\` must be a text or null.`);
  }
  return {
    ...(list === undefined ? {} : { reasoning_efforts: list }),
    ...(chosen === undefined ? {} : { default_reasoning_effort: chosen }),
  };
}

function price(value: JsonObject, at: string): Facts {
  if (value.price === undefined) return {};
  if (value.price === null) return { price: null };
  const { input, cached_input, output } = objectOf(value.price);
  const [i, c, o] = [numberOf(input), numberOf(cached_input), numberOf(output)];
  if (i === undefined || c === undefined || o === undefined) {
    throw new SettingsError(
      `${at}: \`price\` needs the numbers input, cached_input and output (USD per million tokens).`,
    );
  }
  return { price: { input: i, cached_input: c, output: o } };
}

function codexNames(value: JsonObject): Facts {
  const levels = arrayOf(value.supported_reasoning_levels).flatMap(level => {
    const { effort } = objectOf(level);
    return typeof effort === 'string' ? [effort] : [];
  });
  const modalities = value.input_modalities;
  return {
    ...(levels.length > 0 ? { reasoning_efforts: levels } : {}),
    ...(typeof value.default_reasoning_level === 'string'
      ? { default_reasoning_effort: value.default_reasoning_level }
      : {}),
    ...(typeof value.supports_reasoning_summaries === 'boolean'
      ? { reasoning_summaries: value.supports_reasoning_summaries }
      : {}),
    ...(typeof value.support_verbosity === 'boolean' ? { verbosity: value.support_verbosity } : {}),
    ...(typeof value.supports_parallel_tool_calls === 'boolean'
      ? { parallel_tool_calls: value.supports_parallel_tool_calls }
      : {}),
    ...(value.apply_patch_tool_type === 'freeform' ? { custom_tools: true } : {}),
    ...(Array.isArray(modalities) ? { images: modalities.includes('image') } : {}),
  };
}
