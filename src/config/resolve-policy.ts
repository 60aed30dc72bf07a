/** What commands may touch and when a person is asked. */
import { type ApprovalPolicy, SANDBOX_MODES, type SandboxMode, type SandboxPolicy } from '../protocol/index.js';
import type { LoadOptions } from './config.js';
import { ConfigError } from './errors.js';
import { absolutePath } from './home.js';
import type { MergedLayers } from './layer.js';
import { inGitWorkTree } from './project.js';
import type { Surroundings } from './read-layers.js';
import { resolvePermissions } from './resolve-permissions.js';

const APPROVALS = ['untrusted', 'on-request', 'never', 'on-failure'] as const;

const BUILT_IN_PROFILES: ReadonlyMap<string, SandboxMode> = new Map([
  [':read-only', 'read-only'],
  [':workspace', 'workspace-write'],
  [':danger-full-access', 'danger-full-access'],
]);

export type Resolved<T> = { readonly policy: T; readonly defaulted: boolean };

/** Throws ConfigError for an argument that is no policy. */
export function resolveApproval(around: Surroundings, options: LoadOptions): Resolved<ApprovalPolicy> {
  const argument = options.arguments?.approval_policy;
  if (argument !== undefined)
    return { policy: approvalOf(choice('approval policy', argument, APPROVALS)), defaulted: false };
  if (!(options.can_ask ?? options.front_door !== 'exec')) return { policy: 'never', defaulted: true };
  const raw = around.merged.values.approval_policy;
  if (raw === undefined) return { policy: around.trust === 'untrusted' ? 'untrusted' : 'on-request', defaulted: true };
  if (typeof raw === 'string') return { policy: approvalOf(raw), defaulted: false };
  const { granular } = raw;
  return {
    policy: {
      granular: {
        sandbox_approval: granular.sandbox_approval ?? true,
        rules: granular.rules ?? true,
        mcp_elicitations: granular.mcp_elicitations ?? true,
        request_permissions: granular.request_permissions ?? false,
        skill_approval: granular.skill_approval ?? false,
      },
    },
    defaulted: false,
  };
}

/** Throws ConfigError for an argument that is no policy or a profile that does not exist. */
export function resolveSandbox(
  around: Surroundings,
  options: LoadOptions,
  warn: (message: string) => void,
): Resolved<SandboxPolicy> {
  const { sandbox, permission_profile, writable_roots = [] } = options.arguments ?? {};
  const { merged } = around;
  if (sandbox !== undefined && permission_profile !== undefined) {
    throw new ConfigError('A sandbox mode and a permission profile were both given; leave one out.');
  }
  const roots = writable_roots.map(root => absolutePath(root, options.process_cwd, options.env));
  const mode = sandbox === undefined ? undefined : choice('sandbox mode', sandbox, SANDBOX_MODES);
  const configured = merged.values.sandbox_mode === undefined ? merged.values.default_permissions : undefined;
  const profile = mode === undefined ? (permission_profile ?? configured) : undefined;
  const named = profile === undefined ? undefined : BUILT_IN_PROFILES.get(profile);
  if (profile !== undefined && named === undefined) {
    const policy = resolvePermissions(profile, permission_profile === undefined, around, options.env, roots);
    return { policy, defaulted: false };
  }
  const chosen = mode ?? named ?? merged.values.sandbox_mode;
  const policy = sandboxPolicy(chosen ?? defaultMode(around), merged, roots);
  if (policy.type === 'read-only' && roots.length > 0) {
    warn('Further writable folders have no effect in the sandbox mode read-only; use workspace-write.');
  }
  return { policy, defaulted: chosen === undefined };
}

/** A policy from the name of a mode, with the details of `[sandbox_workspace_write]`. */
function sandboxPolicy(mode: SandboxMode, merged: MergedLayers, roots: readonly string[]): SandboxPolicy {
  if (mode !== 'workspace-write') return { type: mode };
  const details = merged.values.sandbox_workspace_write ?? {};
  return {
    type: 'workspace-write',
    writable_roots: [...new Set([...(details.writable_roots ?? []), ...roots])],
    network_access: details.network_access ?? false,
    exclude_tmpdir_env_var: details.exclude_tmpdir_env_var ?? false,
    exclude_slash_tmp: details.exclude_slash_tmp ?? false,
    allow_unix_sockets: details.allow_unix_sockets ?? false,
  };
}

/** A folder the person has an entry for, or a git work tree: there, changes can be seen and undone. */
function defaultMode(around: Surroundings): SandboxMode {
  return around.trust !== null || inGitWorkTree(around.cwd) ? 'workspace-write' : 'read-only';
}

function approvalOf(name: (typeof APPROVALS)[number]): ApprovalPolicy {
  return name === 'on-failure' ? 'on-request' : name;
}

function choice<const T extends readonly string[]>(what: string, value: string, allowed: T): T[number] {
  const found = allowed.find(one => one === value);
  if (found !== undefined) return found;
  throw new ConfigError(
    `Unknown ${what} \`${value}\`, expected one of ${allowed.map(one => `\`${one}\``).join(', ')}.`,
  );
}
