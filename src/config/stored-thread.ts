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
  const sandboxGiven = given.sandbox !== undefined || given.permission_profile !== undefined;
  return Object.freeze({
    ...config,
    ...(given.approval_policy === undefined && stored.approval_policy !== undefined
      ? { approval_policy: stored.approval_policy }
      : {}),
    ...(!sandboxGiven && stored.sandbox_policy !== undefined ? { sandbox_policy: stored.sandbox_policy } : {}),
    ...(stored.reasoning_effort === undefined ? {} : { model_reasoning_effort: stored.reasoning_effort }),
    instructions: {
      base: given.base_instructions ?? stored.instructions?.base ?? config.instructions.base,
      developer: given.developer_instructions ?? stored.instructions?.developer ?? config.instructions.developer,
      compact_prompt: given.compact_prompt ?? stored.instructions?.compact_prompt ?? config.instructions.compact_prompt,
    },
  });
}

/** Overrides that may be written down: values that are secrets by their name are left out; the names of variables stay. */
export function storableOverrides(overrides: readonly Override[]): { path: string; value: unknown }[] {
  return overrides.flatMap(({ path, value }) => {
    const names = path.split('.');
    const kept = isSecretPath(names) ? undefined : withoutSecrets(value, names);
    return kept === undefined ? [] : [{ path, value: kept }];
  });
}

const HOLDS_SECRETS = ['http_headers', 'env', 'headers', 'set', 'query_params'];
const NAMES_ONLY = /(env_key|env_var|env_http_headers|token_limit|tokens?_limit|_instructions)/;

function withoutSecrets(value: unknown, path: readonly string[]): unknown {
  if (!isTable(value)) return value;
  const kept = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
    const here = [...path, key];
    const clean = isSecretPath(here) ? undefined : withoutSecrets(one, here);
    return clean === undefined ? [] : [[key, clean]];
  });
  return makeTable(kept);
}

/** Headers, variables and the like are free text: only those that name a variable are harmless. */
function isSecretPath(path: readonly string[]): boolean {
  const last = path.at(-1) ?? '';
  if (path.some(name => NAMES_ONLY.test(name))) return false;
  return isSecretName(last) || HOLDS_SECRETS.includes(last) || HOLDS_SECRETS.includes(path.at(-2) ?? '');
}
