/** Which provider a thread talks to, and how. */
import type { ProviderSettings } from '../protocol/index.js';
import type { Env } from '../util/index.js';
import { BUILT_IN_PROVIDERS, type BuiltInProvider, builtInProvider, defaultModelOf } from './built-in-providers.js';
import type { LoadOptions } from './config.js';
import { ConfigError } from './errors.js';
import type { MergedLayers } from './layer.js';
import { nearestKey } from './nearest-key.js';

type RawProvider = NonNullable<MergedLayers['values']['model_providers']>[string];
export type ResolvedProvider = { readonly provider: ProviderSettings; readonly model: string };

const FALLBACK_MODEL = 'gpt-5.6-terra';

/** The provider and the model of a configuration. Throws ConfigError. */
export function resolveProvider(
  merged: MergedLayers,
  options: LoadOptions,
  warn: (message: string) => void,
): ResolvedProvider {
  const id = chooseProvider(merged, options, warn);
  const provider = providerSettings(id, merged, options.env);
  for (const other of Object.keys(merged.values.model_providers ?? {})) checkAuth(other, merged);
  const model = options.arguments?.model ?? merged.values.model ?? defaultModelOf(id);
  if (model === '') throw new ConfigError('The model is an empty text. Name a model, or leave the argument out.');
  if (model !== null) return { provider, model };
  warn(`No model is set for the provider \`${id}\`; \`${FALLBACK_MODEL}\` is asked for. Set \`model\` in config.toml.`);
  return { provider, model: FALLBACK_MODEL };
}

/** The settings of one provider: the built-in entry under the person's own keys. Throws ConfigError. */
function providerSettings(id: string, merged: MergedLayers, env: Env): ProviderSettings {
  const own = ownEntry(id, merged);
  const builtIn = builtInProvider(id);
  if (own === undefined && builtIn === undefined) throw unknownProvider(id, merged);
  const entry: RawProvider = own ?? {};
  const credentials = own?.auth !== undefined || own?.experimental_bearer_token !== undefined;
  return {
    id,
    name: entry.name ?? builtIn?.name ?? id,
    base_url: baseUrl(id, entry, builtIn, merged, env),
    wire_api: entry.wire_api ?? builtIn?.wire_api ?? 'responses',
    ...optional('env_key', entry.env_key ?? (credentials ? undefined : (builtIn?.env_key ?? undefined))),
    ...optional('env_key_instructions', entry.env_key_instructions),
    ...optional('experimental_bearer_token', entry.experimental_bearer_token),
    ...optional('auth', authOf(id, entry, merged)),
    http_headers: { ...entry.http_headers },
    env_http_headers: { ...builtIn?.env_http_headers, ...entry.env_http_headers },
    query_params: { ...entry.query_params },
    request_max_retries: Math.min(entry.request_max_retries ?? 4, 100),
    stream_max_retries: Math.min(entry.stream_max_retries ?? 5, 100),
    stream_idle_timeout_ms: entry.stream_idle_timeout_ms ?? 300_000,
  };
}

/** The variables a provider's requests are made from; commands never get them. */
export function providerVariables(provider: ProviderSettings): string[] {
  return [...(provider.env_key === undefined ? [] : [provider.env_key]), ...Object.values(provider.env_http_headers)];
}

function chooseProvider(merged: MergedLayers, options: LoadOptions, warn: (message: string) => void): string {
  if (options.oss !== undefined && options.oss !== false) {
    const local = options.oss === true ? merged.values.oss_provider : options.oss;
    if (local === undefined) {
      throw new ConfigError(
        '--oss needs to know the local provider: add --local-provider ollama (or lmstudio), or set oss_provider in config.toml.',
      );
    }
    return local;
  }
  return options.arguments?.model_provider ?? merged.values.model_provider ?? providerByKey(merged, options, warn);
}

/** openai, unless its key is missing and exactly one other built-in provider has its key in the environment. */
function providerByKey(merged: MergedLayers, options: LoadOptions, warn: (message: string) => void): string {
  const { values } = merged;
  const has = (name: string | null | undefined) => name != null && (options.env[name] ?? '').trim() !== '';
  const openai = ownEntry('openai', merged);
  const configured =
    openai?.auth !== undefined ||
    openai?.experimental_bearer_token !== undefined ||
    values.openai_base_url !== undefined ||
    openai?.base_url !== undefined;
  if (configured || has(openai?.env_key ?? 'OPENAI_API_KEY') || options.logged_in?.('openai') === true) return 'openai';
  const withKey = new Map<string, string>();
  for (const [id, entry] of Object.entries(BUILT_IN_PROVIDERS)) {
    const variable = entry.env_key;
    if (id === 'openai' || variable === null || entry.key_of_others === true || !has(variable)) continue;
    if (!withKey.has(variable)) withKey.set(variable, id);
  }
  const [only, ...others] = withKey;
  if (only === undefined || others.length > 0) return 'openai';
  const [variable, id] = only;
  warn(
    `OPENAI_API_KEY is not set; the provider \`${id}\` is used because ${variable} is. Set \`model_provider\` in config.toml to choose.`,
  );
  return id;
}

function baseUrl(
  id: string,
  entry: RawProvider,
  builtIn: BuiltInProvider | undefined,
  merged: MergedLayers,
  env: Env,
): string {
  const path = ['model_providers', id, 'base_url'];
  const special = id === 'openai' && merged.values.openai_base_url !== undefined;
  const own = entry.base_url ?? (special ? merged.values.openai_base_url : undefined);
  const url = own ?? builtInUrl(id, builtIn, entry, env);
  if (url === undefined) throw merged.errorAt(['model_providers', id], missingUrl(id));
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
    throw merged.errorAt(
      special && entry.base_url === undefined ? ['openai_base_url'] : path,
      `\`${url}\` is not a URL that starts with http:// or https://`,
    );
  }
  return url.replace(/\/+$/, '');
}

function missingUrl(id: string): string {
  if (id === 'amazon-bedrock') return 'the AWS region is missing: set AWS_REGION or `aws.region`';
  return `\`base_url\` is missing for the provider \`${id}\``;
}

function builtInUrl(
  id: string,
  builtIn: BuiltInProvider | undefined,
  entry: RawProvider,
  env: Env,
): string | undefined {
  const url = builtIn?.base_url ?? undefined;
  if (id === 'amazon-bedrock') {
    const region = entry.aws?.region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
    return region ? url?.replace('{region}', region) : undefined;
  }
  if (id !== 'ollama' && id !== 'lmstudio') return url;
  const port = env['CODEX_OSS_PORT'];
  return env['CODEX_OSS_BASE_URL'] || (port ? `http://localhost:${port}/v1` : url);
}

function authOf(id: string, entry: RawProvider, merged: MergedLayers): ProviderSettings['auth'] {
  checkAuth(id, merged);
  if (entry.auth?.command === undefined) return undefined;
  return {
    command: entry.auth.command,
    args: entry.auth.args ?? [],
    ...optional('cwd', entry.auth.cwd),
    timeout_ms: entry.auth.timeout_ms ?? 5000,
    refresh_interval_ms: entry.auth.refresh_interval_ms ?? 300_000,
  };
}

function checkAuth(id: string, merged: MergedLayers): void {
  const entry = ownEntry(id, merged);
  if (entry?.auth === undefined) return;
  const path = ['model_providers', id];
  for (const key of ['env_key', 'experimental_bearer_token'] as const) {
    if (entry[key] !== undefined) throw merged.errorAt([...path, key], `provider auth cannot be combined with ${key}`);
  }
  if (entry.auth.command === undefined) throw merged.errorAt([...path, 'auth'], '`command` is missing');
}

function ownEntry(id: string, merged: MergedLayers): RawProvider | undefined {
  const all = merged.values.model_providers;
  return all !== undefined && Object.hasOwn(all, id) ? all[id] : undefined;
}

function unknownProvider(id: string, merged: MergedLayers): ConfigError {
  const known = [...Object.keys(merged.values.model_providers ?? {}), ...Object.keys(BUILT_IN_PROVIDERS)];
  const near = nearestKey(id, known);
  const hint =
    near === null ? `define [model_providers.${id}], or use one of: ${known.join(', ')}` : `did you mean \`${near}\`?`;
  const message = `Model provider \`${id}\` not found; ${hint}`;
  return merged.originOf(['model_provider']) === null
    ? new ConfigError(message)
    : merged.errorAt(['model_provider'], message);
}

function optional<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: T });
}
