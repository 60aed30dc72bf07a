/** What of a thread's configuration goes into its rollout, and how a thread that was read gets it back. */
import { type Config, type StoredThread, storableOverrides } from '../config/index.js';
import type { JsonObject, SessionMeta, ThreadRecord, TurnSettings } from '../rollout/index.js';
import { isObject } from '../util/index.js';
import { gitInfo } from './git-info.js';
import type { Profile } from './profiles/index.js';

/** For the first line of the rollout; JSON values only, no secrets. */
export function sessionMeta(thread: {
  id: string;
  config: Config;
  profile: Profile;
  source: string;
  version: string;
  startedAt: Date;
  forkedFromId?: string;
}): SessionMeta {
  const { config, profile } = thread;
  return {
    id: thread.id,
    timestamp: thread.startedAt.toISOString(),
    cwd: config.cwd,
    originator: 'open_interpreter',
    cli_version: thread.version,
    source: thread.source,
    model_provider: config.provider.id,
    base_instructions: config.instructions.base ?? profile.instructions,
    ...(thread.forkedFromId === undefined ? {} : { forked_from_id: thread.forkedFromId }),
    git: gitInfo(config.project_root),
    interpreter: json({
      harness: profile.name,
      own_base_instructions: config.instructions.base !== null,
      developer_instructions: config.instructions.developer,
      compact_prompt: config.instructions.compact_prompt,
      model_reasoning_effort: config.model_reasoning_effort,
      limits: limitsOf(config),
      call_config: storableOverrides(config.call_config),
    }),
  };
}

export function turnSettings(turnId: string, config: Config): TurnSettings {
  return {
    turn_id: turnId,
    cwd: config.cwd,
    model: config.model,
    approval_policy: config.approval_policy,
    sandbox_policy: config.sandbox_policy,
    effort: config.model_reasoning_effort,
    summary: config.model_reasoning_summary,
  };
}

/** The settings of a thread as its rollout has them. */
export function storedThread(record: ThreadRecord): StoredThread {
  const { meta, settings } = record;
  const own = meta.interpreter;
  return {
    cwd: settings?.cwd ?? meta.cwd,
    ...(settings
      ? { model: settings.model, approval_policy: settings.approval_policy, sandbox_policy: settings.sandbox_policy }
      : {}),
    ...(meta.model_provider === null ? {} : { model_provider: meta.model_provider }),
    ...(own ? { reasoning_effort: text(own['model_reasoning_effort']) } : {}),
    instructions: {
      base: own?.['own_base_instructions'] === false ? null : meta.base_instructions,
      developer: text(own?.['developer_instructions']),
      compact_prompt: text(own?.['compact_prompt']),
    },
    call_config: callConfig(own),
  };
}

/** The name of the profile that the calls in the thread's history belong to; null when none was stored. */
export function storedHarness(record: ThreadRecord | undefined): string | null {
  return text(record?.meta.interpreter?.['harness']);
}

/** `config` with the limits the thread was started with. */
export function withStoredLimits(config: Config, record: ThreadRecord): Config {
  const limits = record.meta.interpreter?.['limits'];
  if (!isObject(limits)) return config;
  const kept = Object.entries(limitsOf(config)).map(([key, value]) => {
    const stored = limits[key];
    return [key, typeof stored === 'number' ? stored : value];
  });
  return Object.freeze({ ...config, ...Object.fromEntries(kept) });
}

/** `config` with the instructions the thread was started with where it has none of its own. */
export function withStoredInstructions(config: Config, record: ThreadRecord): Config {
  const stored = storedThread(record).instructions;
  const { base, developer, compact_prompt: compactPrompt } = config.instructions;
  return Object.freeze({
    ...config,
    instructions: {
      base: base ?? stored?.base ?? null,
      developer: developer ?? stored?.developer ?? null,
      compact_prompt: compactPrompt ?? stored?.compact_prompt ?? null,
    },
  });
}

function limitsOf(config: Config) {
  return {
    model_context_window: config.model_context_window,
    model_auto_compact_token_limit: config.model_auto_compact_token_limit,
    tool_output_token_limit: config.tool_output_token_limit,
  };
}

function callConfig(own: JsonObject | null): { path: string; value: unknown }[] {
  const list = own?.['call_config'];
  if (!Array.isArray(list)) return [];
  return list.flatMap(one =>
    typeof one === 'object' && one !== null && 'path' in one && typeof one['path'] === 'string'
      ? [{ path: one['path'], value: one['value'] }]
      : [],
  );
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A copy that is plain JSON: what `JSON.stringify` would write. */
function json(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
