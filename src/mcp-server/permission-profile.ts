/** A sandbox policy in the words older clients know: the `permission_profile` of `session_configured`. */
import { type FilesystemEntry, PROTECTED_NAMES, type SandboxPolicy } from '../protocol/index.js';
import type { JsonObject } from './message.js';

/** `cwd`: the thread's directory, absolute. */
export function permissionProfile(policy: SandboxPolicy, cwd: string): JsonObject {
  switch (policy.type) {
    case 'danger-full-access':
      return { type: 'disabled' };
    case 'read-only':
      return managed([special('root', 'read')], false);
    case 'workspace-write': {
      const roots = [cwd, ...policy.writable_roots.filter(root => root !== cwd)];
      return managed(
        [
          special('root', 'read'),
          ...roots.map(root => path(root, 'write')),
          ...(policy.exclude_slash_tmp ? [] : [special('slash_tmp', 'write')]),
          ...(policy.exclude_tmpdir_env_var ? [] : [special('tmpdir', 'write')]),
          ...roots.flatMap(root => PROTECTED_NAMES.map(name => protectedPath(`${root}/${name}`))),
        ],
        policy.network_access,
      );
    }
    case 'profile':
      return managed(policy.filesystem.map(entry), policy.network.type !== 'off');
  }
}

/** The name of a permission profile, where one is in force. */
export function activePermissionProfile(policy: SandboxPolicy): { active_permission_profile?: { id: string } } {
  return policy.type === 'profile' ? { active_permission_profile: { id: policy.name } } : {};
}

function managed(entries: JsonObject[], network: boolean): JsonObject {
  return {
    type: 'managed',
    file_system: { type: 'restricted', entries },
    network: network ? 'enabled' : 'restricted',
  };
}

function special(kind: string, access: string): JsonObject {
  return { path: { type: 'special', value: { kind } }, access };
}

function path(value: string, access: string): JsonObject {
  return { path: { type: 'path', path: value }, access };
}

function protectedPath(value: string): JsonObject {
  return { ...path(value, 'read'), missing_path_behavior: 'skip' };
}

function entry({ access, target }: FilesystemEntry): JsonObject {
  if ('path' in target) return path(target.path, access);
  return { path: { type: 'glob_pattern', pattern: `${target.base}/${target.glob}` }, access };
}
