/** The configuration of a thread that is taken up again. */
import type { ApprovalPolicy, SandboxPolicy } from '../protocol/index.js';
import type { Config, LoadOptions, Override } from './config.js';
import { isSecretName } from './errors.js';
import { loadConfig } from './load-config.js';
import { CALL_CONFIG } from './override.js';
import { isTable, makeTable } from './tables.js';

/** What a rollout remembers; absent = not remembered, then the present configuration decides. */
export type StoredThread = {
  readonly cwd: string;
  readonly model?: string;
  readonly model_provider?: string;
  readonly approval_policy?: ApprovalPolicy;
  readonly sandbox_policy?: SandboxPolicy;
  readonly reasoning_effort?: string | null;
  readonly instructions?: Partial<Config['instructions']>;
  /** `Config.call_config` as `storableOverrides` left it. */
  readonly call_config?: readonly { readonly path: string; readonly value: unknown }[];
};

/**
 * The present configuration with everything the thread was started with on top. `options.arguments` win over what was
 * stored. Throws ConfigError, also when the folder or the provider of the thread are gone.
 */
export function restoreConfig(options: LoadOptions, stored: StoredThread): Config {
  const overrides: Override[] = (stored.call_config ?? []).map(one => ({ ...one, source: CALL_CONFIG }));
  const given = options.arguments ?? {};
  const config = loadConfig({
    ...options,
    cwd: options.cwd ?? stored.cwd,
    overrides: [...(options.overrides ?? []), ...overrides],
    arguments: {
      ...given,
      ...(given.model === undefined && stored.model !== undefined ? { model: stored.model } : {}),
      ...(given.model_provider === undefined && stored.model_provider !== undefined
        ? { model_provider: stored.model_provider }
        : {}),
    },
  });
  const approval = given.approval_policy === undefined ? stored.approval_policy : undefined;
  const sandboxGiven = given.sandbox !== undefined || given.permission_profile !== undefined;
  const sandbox = sandboxGiven ? undefined : stored.sandbox_policy;
  return Object.freeze({
    ...config,
    approval_policy: approval ?? config.approval_policy,
    sandbox_policy: sandbox ?? config.sandbox_policy,
    defaulted: {
      approval_policy: approval === undefined && config.defaulted.approval_policy,
      sandbox_policy: sandbox === undefined && config.defaulted.sandbox_policy,
    },
    ...(stored.reasoning_effort === undefined ? {} : { model_reasoning_effort: stored.reasoning_effort }),
    instructions: {
      base: remembered(given.base_instructions, stored.instructions?.base, config.instructions.base),
      developer: remembered(
        given.developer_instructions,
        stored.instructions?.developer,
        config.instructions.developer,
      ),
      compact_prompt: remembered(
        given.compact_prompt,
        stored.instructions?.compact_prompt,
        config.instructions.compact_prompt,
      ),
    },
  });
}

/** A remembered null means: there was none, whatever the files say now. */
function remembered(
  given: string | undefined,
  stored: string | null | undefined,
  present: string | null,
): string | null {
  if (given !== undefined) return given;
  return stored === undefined ? present : stored;
}

/**
 * Overrides that may be written down: values that are secrets by their name or look are left out, names of variables
 * stay. What is left out has to come from the configuration when the thread is resumed.
 */
export function storableOverrides(overrides: readonly Override[]): { path: string; value: unknown }[] {
  return overrides.flatMap(({ path, value }) => {
    const kept = withoutSecrets(value, path.split('.'));
    return kept === undefined ? [] : [{ path, value: kept }];
  });
}

/** Tables of free text, where any name may stand for a secret. */
const FREE_TEXT = ['http_headers', 'env', 'headers', 'set', 'query_params'];
const TELLING = /key|token|secret|pass|auth|cred|cookie|sig|session|url|uri|dsn/i;
const NAMES_A_VARIABLE = /env_key|env_var|env_http_headers/;
const NO_SECRET = /_token_limit|_instructions/;

function withoutSecrets(value: unknown, path: readonly string[]): unknown {
  if (path.some(name => NAMES_A_VARIABLE.test(name))) return value;
  if (isTable(value)) {
    const kept = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
      const clean = withoutSecrets(one, [...path, key]);
      return clean === undefined ? [] : [[key, clean]];
    });
    return makeTable(kept);
  }
  const last = path.at(-1) ?? '';
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = all.filter(one => typeof one === 'string').filter(one => !one.startsWith('env:'));
  if (texts.length === 0) return value;
  const free = FREE_TEXT.includes(path.at(-2) ?? '');
  const named = !NO_SECRET.test(last) && (isSecretName(last) || (free && TELLING.test(last)));
  const looks = texts.some(text => HAS_PASSWORD.test(text) || ((free || Array.isArray(value)) && looksSecret(text)));
  return named || looks ? undefined : value;
}

/** `https://user:password@host` */
const HAS_PASSWORD = /:\/\/[^/\s]*@/;

/** A long word of letters and digits, or `--api-key=...`. */
function looksSecret(text: string): boolean {
  if (/(token|secret|password|key)=./i.test(text)) return true;
  return text
    .split(/\s+/)
    .some(word => /^[\w-]{24,}$/.test(word) && /\d/.test(word) && /[a-z]/i.test(word) && !isUuid(word));
}

function isUuid(word: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word);
}
