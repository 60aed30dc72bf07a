/** Payloads of lines, ours or the reference's of any age, as our own values. Null = not usable. */
import type { ApprovalPolicy, GitInfo, SandboxPolicy, TokenUsage } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { asArray, asCount, asFields, asString, asStrings, type Fields } from './fields.js';
import type { HistoryBase, JsonObject, SessionMeta, TurnSettings } from './lines.js';

export function decodeMeta(payload: Fields, lineTime: string | null): SessionMeta | null {
  const id = asString(payload['id']) ?? asString(payload['session_id']);
  const cwd = asString(payload['cwd']);
  if (id === null || cwd === null) return null;
  const forked = asString(payload['forked_from_id']);
  const base = historyBase(asFields(payload['history_base']));
  return {
    id: id.toLowerCase(),
    timestamp: asString(payload['timestamp']) ?? lineTime ?? new Date(0).toISOString(),
    cwd,
    originator: asString(payload['originator']) ?? '',
    cli_version: asString(payload['cli_version']) ?? '',
    source: sourceName(payload['source']),
    model_provider: asString(payload['model_provider']),
    base_instructions: instructions(payload),
    ...(forked === null ? {} : { forked_from_id: forked }),
    git: gitInfo(asFields(payload['git'])),
    interpreter: jsonObject(payload['interpreter']),
    ...(base === null ? {} : { history_base: base }),
  };
}

/** `source` is a word, or an object whose only key is the word. */
function sourceName(value: unknown): string {
  return asString(value) ?? Object.keys(asFields(value) ?? {})[0] ?? 'unknown';
}

/** Older files have a plain text, or the text under `instructions`. */
function instructions(payload: Fields): string | null {
  const base = payload['base_instructions'];
  return asString(base) ?? asString(asFields(base)?.['text']) ?? asString(payload['instructions']);
}

function gitInfo(git: Fields | null): GitInfo | null {
  if (git === null) return null;
  const info: { branch?: string; commit_hash?: string; repository_url?: string } = {};
  for (const key of ['branch', 'commit_hash', 'repository_url'] as const) {
    const value = asString(git[key]);
    if (value !== null) info[key] = value;
  }
  return Object.keys(info).length > 0 ? info : null;
}

function historyBase(base: Fields | null): HistoryBase | null {
  const threadId = asString(base?.['thread_id']);
  if (base === null || threadId === null) return null;
  return {
    thread_id: threadId,
    end_ordinal: asCount(base['end_ordinal_exclusive']),
    end_byte: asCount(base['end_byte_offset']),
  };
}

/** What came out of JSON.parse is JSON. */
export function jsonObject(value: unknown): JsonObject | null {
  return isObject(value) ? (value as JsonObject) : null;
}

export function decodeTurnSettings(payload: Fields): TurnSettings | null {
  const cwd = asString(payload['cwd']);
  const model = asString(payload['model']);
  if (cwd === null || model === null) return null;
  const own = asFields(payload['interpreter']);
  return {
    turn_id: asString(payload['turn_id']) ?? '',
    cwd,
    model,
    approval_policy: decodeApprovalPolicy(payload['approval_policy']),
    sandbox_policy: decodeSandboxPolicy(asFields(own?.['sandbox_policy']) ?? asFields(payload['sandbox_policy'])),
    effort: asString(payload['effort']),
    summary: own === null ? asString(payload['summary']) : asString(own['summary']),
  };
}

/** An unknown policy is read as the one that asks. */
function decodeApprovalPolicy(value: unknown): ApprovalPolicy {
  if (value === 'never' || value === 'untrusted') return value;
  const granular = asFields(asFields(value)?.['granular']);
  if (granular === null) return 'on-request';
  const allows = (key: string, fallback: boolean) => (typeof granular[key] === 'boolean' ? granular[key] : fallback);
  return {
    granular: {
      sandbox_approval: allows('sandbox_approval', true),
      rules: allows('rules', true),
      mcp_elicitations: allows('mcp_elicitations', true),
      request_permissions: allows('request_permissions', false),
      skill_approval: allows('skill_approval', false),
    },
  };
}

/** An unknown or damaged policy is read as the strictest. */
function decodeSandboxPolicy(policy: Fields | null): SandboxPolicy {
  if (policy === null) return { type: 'read-only' };
  switch (policy['type']) {
    case 'danger-full-access':
      return { type: 'danger-full-access' };
    case 'workspace-write':
      return {
        type: 'workspace-write',
        writable_roots: asStrings(policy['writable_roots']),
        network_access: policy['network_access'] === true,
        exclude_tmpdir_env_var: policy['exclude_tmpdir_env_var'] === true,
        exclude_slash_tmp: policy['exclude_slash_tmp'] === true,
        allow_unix_sockets: policy['allow_unix_sockets'] === true,
      };
    case 'profile':
      return decodeProfile(policy) ?? { type: 'read-only' };
    default:
      return { type: 'read-only' };
  }
}

type Profile = SandboxPolicy & { type: 'profile' };

/** Only we write profiles; one entry that cannot be read spoils the whole, so that nothing is allowed by accident. */
function decodeProfile(policy: Fields): Profile | null {
  const name = asString(policy['name']);
  const network = decodeNetwork(asFields(policy['network']));
  const entries = asArray(policy['filesystem'])?.map(decodeEntry);
  if (name === null || network === null || entries === undefined) return null;
  const filesystem = entries.filter(entry => entry !== null);
  if (filesystem.length < entries.length) return null;
  return { type: 'profile', name, filesystem, network, allow_unix_sockets: policy['allow_unix_sockets'] === true };
}

function decodeEntry(value: unknown): Profile['filesystem'][number] | null {
  const entry = asFields(value);
  const target = asFields(entry?.['target']);
  const access = entry?.['access'];
  if (target === null || (access !== 'read' && access !== 'write' && access !== 'deny')) return null;
  const path = asString(target['path']);
  if (path !== null) return { access, target: { path } };
  const glob = asString(target['glob']);
  const base = asString(target['base']);
  return glob === null || base === null ? null : { access, target: { glob, base } };
}

function decodeNetwork(network: Fields | null): Profile['network'] | null {
  const type = network?.['type'];
  if (type === 'off' || type === 'on') return { type };
  if (type !== 'domains') return null;
  return { type, allow: asStrings(network?.['allow']), deny: asStrings(network?.['deny']) };
}

export function decodeUsage(value: unknown): TokenUsage | null {
  const usage = asFields(value);
  if (usage === null) return null;
  const input = asCount(usage['input_tokens']) ?? 0;
  const output = asCount(usage['output_tokens']) ?? 0;
  return {
    input_tokens: input,
    cached_input_tokens: asCount(usage['cached_input_tokens']) ?? 0,
    cache_write_input_tokens: asCount(usage['cache_write_input_tokens']) ?? 0,
    output_tokens: output,
    reasoning_output_tokens: asCount(usage['reasoning_output_tokens']) ?? 0,
    total_tokens: asCount(usage['total_tokens']) ?? input + output,
  };
}
