import type { SandboxPolicy } from '../../src/protocol/index.js';

type WorkspaceWrite = SandboxPolicy & { type: 'workspace-write' };

/** The workspace may be written, and not /tmp, where the folders of tests may lie. */
export function workspaceWrite(changes: Partial<WorkspaceWrite> = {}): WorkspaceWrite {
  return {
    type: 'workspace-write',
    writable_roots: [],
    network_access: false,
    exclude_tmpdir_env_var: false,
    exclude_slash_tmp: true,
    allow_unix_sockets: false,
    ...changes,
  };
}
