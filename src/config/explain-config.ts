/** Every effective value with the layer it came from, for `interpreter config show`. */
import type { Config, LoadOptions } from './config.js';
import { isSecretName } from './errors.js';
import type { KeyNode, Keys } from './keys.js';
import { type Layer, type LayerKind, MergedLayers, placeIn } from './layer.js';
import { resolveConfig } from './load-config.js';
import { parseTomlValue } from './override.js';
import { readLayers } from './read-layers.js';
import { CONFIG_KEYS } from './schema.js';
import { dotted, isTable, makeTable } from './tables.js';

export type ExplainedValue = {
  readonly key: string;
  /** Secrets are replaced by `***`; null = nothing is set and there is no fixed default. */
  readonly value: unknown;
  readonly layer: LayerKind | 'default';
  /** The file, or the override or argument; null for defaults. */
  readonly source: string | null;
  /** Counted from 1; null when the source is no file. */
  readonly line: number | null;
  /** What applies when `value` is null, in words. */
  readonly note: string | null;
};
export type Explanation = { readonly values: readonly ExplainedValue[]; readonly warnings: readonly string[] };

/** Loads the configuration and tells about every key, in the order of the reference. Throws ConfigError. */
export function explainConfig(options: LoadOptions): Explanation {
  const around = readLayers(options);
  const config = resolveConfig(around, options);
  const merged = new MergedLayers([...around.merged.layers, argumentLayer(options)]);
  const explainer = new Explainer(merged, config);
  explainer.table(merged.values, CONFIG_KEYS, []);
  return { values: explainer.rows, warnings: config.warnings };
}

class Explainer {
  readonly rows: ExplainedValue[] = [];
  readonly #merged: MergedLayers;
  readonly #config: Config;
  readonly #defaults: ReadonlyMap<string, unknown>;

  constructor(merged: MergedLayers, config: Config) {
    this.#merged = merged;
    this.#config = config;
    this.#defaults = defaultsOf(config);
  }

  table(values: unknown, keys: Keys, path: readonly string[]): void {
    for (const [key, node] of Object.entries(keys)) {
      this.#node(isTable(values) ? values[key] : undefined, node, [...path, key]);
    }
  }

  #node(value: unknown, node: KeyNode, path: readonly string[]): void {
    switch (node.kind) {
      case 'table':
        if (path[0] === 'hooks') this.#hooks();
        else this.table(value, node.keys, path);
        return;
      case 'map':
        for (const [name, one] of Object.entries(isTable(value) ? value : {}))
          this.#entry(one, node.each, [...path, name]);
        if (path[0] === 'model_providers') this.#activeProvider(value);
        return;
      case 'value':
        this.#value(value, node.default, path);
        return;
    }
  }

  /** Of tables with chosen names only what is set: their defaults would drown it. */
  #entry(value: unknown, node: KeyNode, path: readonly string[]): void {
    if (node.kind === 'value') this.#value(value, null, path);
    else if (isTable(value)) {
      for (const [key, one] of Object.entries(value)) {
        const below = node.kind === 'map' ? node.each : node.keys[key];
        if (below !== undefined) this.#entry(one, below, [...path, key]);
      }
    }
  }

  /** Hooks of all layers add to each other, and some stand in files of their own. */
  #hooks(): void {
    for (const [index, hook] of this.#config.hooks.entries()) {
      const { event, source, ...rest } = hook;
      const origin = this.#merged.layers.findLast(layer => (layer.file?.path ?? layer.label) === source);
      this.rows.push({
        key: `hooks.${event}[${index}]`,
        value: rest,
        layer: origin?.kind ?? 'user',
        source,
        line: null,
        note: null,
      });
    }
  }

  /** What the built-in entry of the provider in use adds. */
  #activeProvider(own: unknown): void {
    const provider = this.#defaults.get('model_providers');
    const id = this.#defaults.get('model_provider');
    if (!isTable(provider) || typeof id !== 'string') return;
    const set = isTable(own) && Object.hasOwn(own, id) ? own[id] : undefined;
    for (const [key, value] of Object.entries(provider)) {
      if (isTable(set) && Object.hasOwn(set, key)) continue;
      if (isTable(value) && Object.keys(value).length === 0) continue;
      this.#row(['model_providers', id, key], value, 'default', null);
    }
  }

  #value(value: unknown, fallback: string | null, path: readonly string[]): void {
    const key = path.join('.');
    if (value !== undefined && !this.#decidedElsewhere(key, value)) {
      const origin = this.#merged.originOf(path);
      if (origin !== null) this.#row(path, value, origin.kind, null, origin);
      return;
    }
    const known = this.#defaults.has(key) ? this.#defaults.get(key) : fixedDefault(fallback);
    this.#row(path, known ?? null, 'default', known == null ? fallback : null);
  }

  /** A permission profile that a sandbox mode keeps from being used. */
  #decidedElsewhere(key: string, value: unknown): boolean {
    return key === 'default_permissions' && value !== undefined && this.#merged.values.sandbox_mode !== undefined;
  }

  #row(
    path: readonly string[],
    value: unknown,
    layer: ExplainedValue['layer'],
    note: string | null,
    origin?: Layer,
  ): void {
    const place = origin === undefined ? null : placeIn(origin, path);
    const isFile = place !== null && 'file' in place;
    this.rows.push({
      key: dotted(path),
      value: masked(value, path),
      layer,
      source: place === null ? null : isFile ? place.file : place.label,
      line: isFile ? place.line : null,
      note,
    });
  }
}

function argumentLayer(options: LoadOptions): Layer {
  const given = options.arguments ?? {};
  const values = {
    model: given.model,
    model_provider: given.model_provider,
    sandbox_mode: given.sandbox,
    approval_policy: given.approval_policy,
    developer_instructions: given.developer_instructions,
    compact_prompt: given.compact_prompt,
    default_permissions: given.permission_profile,
  };
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  return { kind: 'argument', label: 'an argument', file: null, prefix: [], values: makeTable(set) };
}

/** Defaults that depend on the folder, the environment or the provider. */
function defaultsOf(config: Config): Map<string, unknown> {
  const { provider } = config;
  const policy = config.sandbox_policy;
  const mode = policy.type === 'profile' ? null : policy.type;
  return new Map<string, unknown>([
    ['model', config.model],
    ['model_provider', provider.id],
    ['approval_policy', config.approval_policy],
    ['sandbox_mode', mode],
    ['web_search', config.web_search],
    ['sqlite_home', config.sqlite_home],
    [
      'model_providers',
      {
        name: provider.name,
        base_url: provider.base_url,
        wire_api: provider.wire_api,
        ...(provider.env_key === undefined ? {} : { env_key: provider.env_key }),
        env_http_headers: provider.env_http_headers,
        request_max_retries: provider.request_max_retries,
        stream_max_retries: provider.stream_max_retries,
        stream_idle_timeout_ms: provider.stream_idle_timeout_ms,
      },
    ],
  ]);
}

/** Defaults are described in words or as a value; only the latter is one. */
function fixedDefault(described: string | null): unknown {
  if (described === null) return undefined;
  if (/^[a-z-]+$/.test(described) && !['true', 'false'].includes(described)) return described;
  return parseTomlValue(described);
}

const HIDDEN_TABLES = ['http_headers', 'env', 'set', 'headers', 'query_params'];

function masked(value: unknown, path: readonly string[]): unknown {
  const last = path.at(-1) ?? '';
  if (typeof value === 'string') {
    const named = /env_key|env_var|env_http_headers|_instructions/.test(path.join('.'));
    const hidden = path.some(key => HIDDEN_TABLES.includes(key));
    const secret = last === 'experimental_bearer_token' || (hidden && isSecretName(last));
    return secret && !named && !value.startsWith('env:') ? '***' : value;
  }
  if (Array.isArray(value)) return value;
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, masked(one, [...path, key])]));
}
