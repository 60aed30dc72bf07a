/** The headers that prove who we are to a provider. Secrets live only as long as a request is made. */
import type { ProviderSettings } from '../protocol/index.js';
import { type Env, messageOf } from '../util/index.js';
import { hostIs } from './endpoint.js';
import { SettingsError } from './errors.js';

/** Runs `[model_providers.<id>.auth]` and gives its standard output. Rejects with what went wrong. */
export type RunAuthCommand = (auth: NonNullable<ProviderSettings['auth']>, signal: AbortSignal) => Promise<string>;

export type CredentialSources = {
  readonly env: Env;
  readonly runAuthCommand?: RunAuthCommand;
  /** The key that `login` stored for a provider, or null. */
  readonly storedKey?: (providerId: string) => Promise<string | null>;
};

export type AuthHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  /** Values that must not appear in any text. */
  readonly secrets: readonly string[];
};

/** Credentials of one provider; remembers the token of an auth command until its refresh time. */
export interface Credentials {
  /** Throws SettingsError when a key is missing or the auth command fails. */
  headers(signal: AbortSignal): Promise<AuthHeaders>;
  /** Forgets a command's token after a 401. False when there is nothing to renew. */
  renew(): boolean;
  /** What a person can do about a refused key, e.g. "check the key in OPENAI_API_KEY". */
  readonly hint: string;
}

type Key = { value: string; kind: 'api_key' | 'token' } | null;

export function createCredentials(settings: ProviderSettings, sources: CredentialSources): Credentials {
  let token: { value: string; until: number } | null = null;

  const commandToken = async (auth: NonNullable<ProviderSettings['auth']>, signal: AbortSignal): Promise<string> => {
    if (token && Date.now() < token.until) return token.value;
    const value = await runCommand(settings, auth, sources.runAuthCommand, signal);
    const forever = auth.refresh_interval_ms <= 0;
    token = { value, until: forever ? Number.POSITIVE_INFINITY : Date.now() + auth.refresh_interval_ms };
    return value;
  };

  return {
    hint: keyHint(settings),
    async headers(signal) {
      const fixed = fixedHeaders(settings, sources.env);
      const key: Key = hasOwnAuth(fixed.headers)
        ? null
        : settings.auth
          ? { value: await commandToken(settings.auth, signal), kind: 'token' }
          : await findKey(settings, sources);
      if (key === null) return fixed;
      return {
        headers: { ...fixed.headers, ...keyHeader(settings, key) },
        secrets: [...fixed.secrets, key.value],
      };
    },
    renew() {
      const renewable = token !== null;
      token = null;
      return renewable;
    },
  };
}

async function findKey(settings: ProviderSettings, sources: CredentialSources): Promise<Key> {
  const literal = settings.experimental_bearer_token?.trim();
  if (literal) return { value: literal, kind: /^(?:eyJ|sk-ant-oat)/.test(literal) ? 'token' : 'api_key' };
  if (settings.env_key !== undefined) {
    const value = sources.env[settings.env_key]?.trim();
    if (value) return { value, kind: 'api_key' };
  }
  const stored = (await sources.storedKey?.(settings.id))?.trim();
  if (stored) return { value: stored, kind: 'api_key' };
  const missing = settings.env_key ?? missingAuthHeader(settings, sources.env);
  if (missing === undefined) return null;
  const more = settings.env_key_instructions ? ` ${settings.env_key_instructions}` : '';
  throw new SettingsError(
    `Missing environment variable: ${missing}. It holds the key of provider ${settings.id}; set it, or store a key with \`interpreter login ${settings.id}\`.${more}`,
    'unauthorized',
  );
}

/** The unset variable of a header that would have carried the key, e.g. Azure's `api-key`. */
function missingAuthHeader(settings: ProviderSettings, env: CredentialSources['env']): string | undefined {
  const headers = Object.entries(settings.env_http_headers);
  return headers.find(([name, variable]) => AUTH_HEADERS.includes(name.toLowerCase()) && !env[variable]?.trim())?.[1];
}

async function runCommand(
  settings: ProviderSettings,
  auth: NonNullable<ProviderSettings['auth']>,
  run: RunAuthCommand | undefined,
  signal: AbortSignal,
): Promise<string> {
  const where = `[model_providers.${settings.id}.auth]`;
  if (!run) throw new SettingsError(`The auth command of ${where} can't be run here; use env_key instead.`);
  let output: string;
  try {
    output = await run(auth, signal);
  } catch (error) {
    throw new SettingsError(`The auth command of ${where} failed: ${messageOf(error)}`, 'unauthorized', {
      cause: error,
    });
  }
  const value = output.trim();
  if (value === '') throw new SettingsError(`The auth command of ${where} printed no token.`, 'unauthorized');
  return value;
}

/** `http_headers` and `env_http_headers`; unset or blank variables are left out. */
function fixedHeaders(settings: ProviderSettings, env: CredentialSources['env']): AuthHeaders {
  const headers: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(settings.http_headers)) {
    headers[name.toLowerCase()] = value;
    if (SECRET_NAME.test(name)) secrets.push(value, bareToken(value));
  }
  for (const [name, variable] of Object.entries(settings.env_http_headers)) {
    const value = env[variable]?.trim();
    if (!value) continue;
    headers[name.toLowerCase()] = value;
    secrets.push(value, bareToken(value));
  }
  for (const [name, value] of Object.entries(settings.query_params)) if (SECRET_NAME.test(name)) secrets.push(value);
  return { headers, secrets };
}

const AUTH_HEADERS = ['authorization', 'x-api-key', 'api-key'];
const SECRET_NAME = /auth|key|token|secret|cookie|password|^sig/i;

function bareToken(value: string): string {
  return value.replace(/^\w+\s+/, '');
}

function hasOwnAuth(headers: Readonly<Record<string, string>>): boolean {
  return AUTH_HEADERS.some(name => name in headers);
}

/**
 * Anthropic's own API takes keys as `x-api-key`; its copies elsewhere (Z.AI, MiniMax, DeepSeek) take a bearer token.
 * Azure takes keys as `api-key` and Entra tokens as bearer.
 */
function keyHeader(settings: ProviderSettings, key: NonNullable<Key>): Record<string, string> {
  if (isAnthropic(settings) && key.kind === 'api_key') return { 'x-api-key': key.value };
  if (isAzure(settings) && key.kind === 'api_key') return { 'api-key': key.value };
  return { authorization: `Bearer ${key.value}` };
}

export function isAnthropic(settings: ProviderSettings): boolean {
  return settings.wire_api === 'messages' && (settings.id === 'anthropic' || hostIs(settings, 'api.anthropic.com'));
}

export function isAzure(settings: ProviderSettings): boolean {
  return hostIs(settings, 'openai.azure.com', 'cognitiveservices.azure.com', 'services.ai.azure.com', 'azure-api.net');
}

function keyHint(settings: ProviderSettings): string {
  if (settings.auth) return `check the auth command of [model_providers.${settings.id}.auth]`;
  if (settings.experimental_bearer_token) return `check experimental_bearer_token of provider ${settings.id}`;
  if (settings.env_key) return `check the key in ${settings.env_key}`;
  return `set env_key of provider ${settings.id} to the variable that holds its key`;
}
