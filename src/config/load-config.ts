/** All layers, resolved to the one value that threads run by. */
import path from 'node:path';
import type { ProviderSettings, SandboxPolicy, ShellEnvironmentPolicy } from '../protocol/index.js';
import { type Config, FEATURES, type FeatureName, type LoadOptions } from './config.js';
import { ConfigError } from './errors.js';
import { CALL_CONFIG } from './override.js';
import { readLayers, type Surroundings } from './read-layers.js';
import { resolveHooks } from './resolve-hooks.js';
import { resolveMcpServers } from './resolve-mcp-servers.js';
import { resolveOtel } from './resolve-otel.js';
import { resolveApproval, resolveSandbox } from './resolve-policy.js';
import { resolveProvider } from './resolve-provider.js';
import type { RawConfig } from './schema.js';

/**
 * Reads every layer that applies to `options.cwd` and resolves it. Throws ConfigError, and nothing else, for whatever
 * stands in files, overrides and arguments.
 */
export function loadConfig(options: LoadOptions): Config {
  return resolveConfig(readLayers(options), options);
}

/** The second half of loading, for callers that also want to look at the layers. Throws ConfigError. */
export function resolveConfig(around: Surroundings, options: LoadOptions): Config {
  const warnings = [...around.warnings];
  const warn = (message: string) => void warnings.push(message);
  const { merged } = around;
  const raw = merged.values;
  const { provider, model } = resolveProvider(merged, options, warn);
  const approval = resolveApproval(around, options);
  const sandbox = resolveSandbox(around, options, warn);
  const config: Config = {
    home: around.home,
    cwd: around.cwd,
    project_root: around.project_root,
    project_root_markers: around.project_root_markers,
    trust: around.trust,
    model,
    provider,
    approval_policy: approval.policy,
    sandbox_policy: sandbox.policy,
    defaulted: { approval_policy: approval.defaulted, sandbox_policy: sandbox.defaulted },
    instructions: instructionsOf(around, options),
    ...modelSettings(raw),
    web_search: webSearch(raw, provider, sandbox.policy),
    allow_login_shell: raw.allow_login_shell ?? true,
    background_terminal_max_timeout_ms: raw.background_terminal_max_timeout ?? 300_000,
    shell_environment: shellEnvironment(raw),
    features: featuresOf(raw),
    mcp_servers: resolveMcpServers(merged, options.env, warn),
    mcp_server: {
      events: raw.mcp_server?.events ?? 'codex',
      thread_id_text: raw.mcp_server?.thread_id_text ?? true,
      approval_timeout_ms: (raw.mcp_server?.approval_timeout_sec ?? 600) * 1000,
    },
    skills: {
      include_instructions: raw.skills?.include_instructions ?? true,
      disabled_paths: (raw.skills?.config ?? []).filter(skill => skill.enabled === false).map(skill => skill.path),
    },
    hooks: resolveHooks(around, options.env, options.strict === true, warn),
    notify: raw.notify === undefined || raw.notify.length === 0 ? null : raw.notify,
    otel: resolveOtel(merged, warn),
    rules_dirs: options.ignore_rules === true ? [] : rulesDirs(around),
    log_dir: raw.log_dir ?? null,
    sqlite_home: raw.sqlite_home ?? around.home,
    persist: options.persist ?? true,
    call_config: (options.overrides ?? []).filter(override => override.source === CALL_CONFIG),
    warnings: [...new Set(warnings)],
  };
  return freeze(config);
}

function modelSettings(raw: RawConfig) {
  return {
    model_reasoning_effort: raw.model_reasoning_effort ?? null,
    model_reasoning_summary: raw.model_reasoning_summary ?? null,
    model_verbosity: raw.model_verbosity ?? null,
    service_tier: raw.service_tier ?? null,
    model_context_window: raw.model_context_window ?? null,
    model_auto_compact_token_limit: raw.model_auto_compact_token_limit ?? null,
    tool_output_token_limit: raw.tool_output_token_limit ?? null,
    model_catalog_json: raw.model_catalog_json ?? null,
    review_model: raw.review_model ?? null,
    harness: raw.harness === '' ? 'native' : (raw.harness ?? null),
    hide_agent_reasoning: raw.hide_agent_reasoning ?? false,
    show_raw_agent_reasoning: raw.show_raw_agent_reasoning ?? false,
    include_permissions_instructions: raw.include_permissions_instructions ?? true,
    include_environment_context: raw.include_environment_context ?? true,
    project_doc: {
      max_bytes: raw.project_doc_max_bytes ?? 32_768,
      fallback_filenames: raw.project_doc_fallback_filenames ?? [],
    },
  };
}

function instructionsOf(around: Surroundings, options: LoadOptions): Config['instructions'] {
  const raw = around.merged.values;
  const given = options.arguments ?? {};
  const fromFile = (key: 'model_instructions_file' | 'experimental_compact_prompt_file') => {
    const file = raw[key];
    return file === undefined ? null : textOf(file, key, around);
  };
  return {
    base: given.base_instructions ?? fromFile('model_instructions_file'),
    developer: given.developer_instructions ?? raw.developer_instructions ?? null,
    compact_prompt: given.compact_prompt ?? raw.compact_prompt ?? fromFile('experimental_compact_prompt_file'),
  };
}

function textOf(file: string, key: string, around: Surroundings): string {
  let message: string;
  try {
    const text = around.cache.readText(file)?.text.trim();
    if (text !== undefined && text !== '') return text;
    message = text === undefined ? `the file ${file} does not exist` : `the file ${file} is empty`;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    message = error.message;
  }
  throw around.merged.errorAt([key], message);
}

/** Only the service this product knows to have it gets it unasked. */
function webSearch(raw: RawConfig, provider: ProviderSettings, policy: SandboxPolicy): Config['web_search'] {
  if (raw.web_search !== undefined) return raw.web_search === 'indexed' ? 'cached' : raw.web_search;
  if (provider.id !== 'openai' || provider.wire_api !== 'responses') return 'disabled';
  return policy.type === 'danger-full-access' ? 'live' : 'cached';
}

function shellEnvironment(raw: RawConfig): ShellEnvironmentPolicy {
  const policy = raw.shell_environment_policy ?? {};
  const filters = Object.entries(policy.filters ?? {});
  const patterns = (rule: 'include' | 'exclude') =>
    filters.flatMap(([pattern, one]) => (one === rule ? [pattern] : []));
  return {
    inherit: policy.inherit ?? 'all',
    ignore_default_excludes: policy.ignore_default_excludes ?? false,
    exclude: [...(policy.exclude ?? []), ...patterns('exclude')],
    set: { ...policy.set },
    include_only: [...(policy.include_only ?? []), ...patterns('include')],
  };
}

function featuresOf(raw: RawConfig): Config['features'] {
  const names = Object.keys(FEATURES) as FeatureName[];
  return Object.fromEntries(names.map(name => [name, raw.features?.[name] ?? FEATURES[name]])) as Config['features'];
}

/** `rules/` in the home and beside the files of a trusted project. */
function rulesDirs(around: Surroundings): string[] {
  const projects = around.trust === 'trusted' ? around.project_folders : [];
  return [around.home, ...projects].map(folder => path.join(folder, 'rules'));
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const one of Object.values(value)) freeze(one);
  return Object.freeze(value);
}
