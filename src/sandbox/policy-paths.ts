/** What a policy says about paths, as it was written: for people and models. Nothing here looks at the disk. */
import { join } from 'node:path';
import { PROTECTED_NAMES, type SandboxPolicy } from '../protocol/index.js';

/** Where a thread works. All paths are absolute, links not resolved. */
export type PathFacts = {
  /** The thread's working directory. */
  readonly cwd: string;
  /** The agent's own home. */
  readonly home: string;
  /** TMPDIR of the commands, when set. */
  readonly tmpdir: string | null;
};

/** The folders a command may write in, without those that do not exist being left out. `/` = everything. */
export function writableRoots(policy: SandboxPolicy, facts: Pick<PathFacts, 'cwd' | 'tmpdir'>): string[] {
  switch (policy.type) {
    case 'read-only':
      return [];
    case 'danger-full-access':
      return ['/'];
    case 'workspace-write':
      return unique([
        ...(facts.cwd === '' ? [] : [facts.cwd]),
        ...policy.writable_roots,
        ...(policy.exclude_slash_tmp ? [] : ['/tmp']),
        ...(policy.exclude_tmpdir_env_var || !facts.tmpdir ? [] : [facts.tmpdir]),
      ]);
    case 'profile':
      return unique(
        policy.filesystem.flatMap(({ access, target }) =>
          access === 'write' && 'path' in target ? [target.path] : [],
        ),
      );
  }
}

export type SandboxEntry = { access: 'read' | 'write' | 'deny'; path: string };

/** The rules as lines to show; a glob is shown behind its folder. */
export function sandboxEntries(policy: SandboxPolicy, facts: Pick<PathFacts, 'cwd' | 'tmpdir'>): SandboxEntry[] {
  switch (policy.type) {
    case 'read-only':
      return [{ access: 'read', path: '/' }];
    case 'danger-full-access':
      return [{ access: 'write', path: '/' }];
    case 'workspace-write':
      return [
        { access: 'read', path: '/' },
        ...writableRoots(policy, facts).map((path): SandboxEntry => ({ access: 'write', path })),
        ...PROTECTED_NAMES.map((name): SandboxEntry => ({ access: 'read', path: join(facts.cwd, name) })),
      ];
    case 'profile':
      return policy.filesystem.map(({ access, target }) => ({
        access,
        path: 'path' in target ? target.path : join(target.base, target.glob),
      }));
  }
}

/** What a policy lets commands do, in a few words, e.g. for the first line of an explanation. */
export function describePolicy(policy: SandboxPolicy): string {
  switch (policy.type) {
    case 'read-only':
      return 'read-only (all files can be read, nothing can be written, no network)';
    case 'workspace-write':
      return `workspace-write (writes in the workspace and temporary folders, ${policy.network_access ? 'network on' : 'no network'})`;
    case 'danger-full-access':
      return 'danger-full-access (no sandbox)';
    case 'profile':
      return `permission profile "${policy.name}" (${describeNetwork(policy.network)})`;
  }
}

function describeNetwork(network: Extract<SandboxPolicy, { type: 'profile' }>['network']): string {
  switch (network.type) {
    case 'off':
      return 'no network';
    case 'on':
      return 'network on';
    case 'domains':
      return `network only to ${network.allow.join(', ') || 'no domain'}`;
  }
}

/** How much network the policy gives. */
export function networkOf(policy: SandboxPolicy): 'off' | 'on' | 'domains' {
  switch (policy.type) {
    case 'read-only':
      return 'off';
    case 'workspace-write':
      return policy.network_access ? 'on' : 'off';
    case 'danger-full-access':
      return 'on';
    case 'profile':
      return policy.network.type;
  }
}

/** Variables that tell commands about the policy, and those it needs. They go over the environment of the command. */
export function policyEnvironment(
  policy: SandboxPolicy,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  if (policy.type === 'danger-full-access') return {};
  return {
    ...(networkOf(policy) === 'off' ? { CODEX_SANDBOX_NETWORK_DISABLED: '1' } : {}),
    // The only place a read-only command can write: here-documents and `sort` need one. macOS has none.
    ...(hasWritableFolder(policy) || platform === 'darwin' ? {} : { TMPDIR: '/dev/shm' }),
  };
}

function hasWritableFolder(policy: SandboxPolicy): boolean {
  return policy.type === 'workspace-write' || writableRoots(policy, { cwd: '', tmpdir: null }).length > 0;
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}
