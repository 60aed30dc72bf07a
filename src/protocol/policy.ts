/** What commands and patches may touch, and when a person is asked. */

/** The values of `sandbox_mode` and of the `sandbox` argument. */
export const SANDBOX_MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** One line of a permission profile. `deny` beats `write` beats `read`; the more specific path wins. */
export type FilesystemEntry = {
  readonly access: 'read' | 'write' | 'deny';
  /** An absolute path, or a glob relative to `base`. */
  readonly target:
    | { readonly path: string }
    /** `max_depth`: how many levels below `base` are searched (`glob_scan_max_depth`); absent = all. */
    | { readonly glob: string; readonly base: string; readonly max_depth?: number };
};

export type NetworkPermissions =
  | { readonly type: 'off' }
  | { readonly type: 'on' }
  /** Only these domains, through the proxy. `*.x` = subdomains, `**.x` = apex and subdomains, `*` = all. */
  | { readonly type: 'domains'; readonly allow: readonly string[]; readonly deny: readonly string[] };

/** What a command may touch. All paths are absolute. */
export type SandboxPolicy =
  | { readonly type: 'read-only' }
  | {
      readonly type: 'workspace-write';
      readonly writable_roots: readonly string[];
      readonly network_access: boolean;
      readonly exclude_tmpdir_env_var: boolean;
      readonly exclude_slash_tmp: boolean;
      readonly allow_unix_sockets: boolean;
    }
  | { readonly type: 'danger-full-access' }
  /** A permission profile, `[permissions.<name>]`, with its special names already resolved to paths. */
  | {
      readonly type: 'profile';
      readonly name: string;
      readonly filesystem: readonly FilesystemEntry[];
      readonly network: NetworkPermissions;
      readonly allow_unix_sockets: boolean;
    };

/** `granular`: as `on-request`, but a category set to false turns its question into a refusal. */
export type GranularApproval = {
  readonly sandbox_approval: boolean;
  readonly rules: boolean;
  readonly mcp_elicitations: boolean;
  readonly request_permissions: boolean;
  readonly skill_approval: boolean;
};

export type ApprovalPolicy = 'untrusted' | 'on-request' | 'never' | { readonly granular: GranularApproval };

/** The names of files and folders that stay read-only in every writable root. */
export const PROTECTED_NAMES = ['.git', '.codex', '.openinterpreter', '.agents'] as const;
