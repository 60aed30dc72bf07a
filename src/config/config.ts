/** The one frozen value that configuration resolves to. Threads are run by this and nothing else. */
import type {
  ApprovalPolicy,
  HookSettings,
  McpServerSettings,
  OtelSettings,
  ProviderSettings,
  SandboxPolicy,
  ShellEnvironmentPolicy,
} from '../protocol/index.js';
import type { Env } from '../util/index.js';
import type { ConfigCache } from './config-cache.js';

export type Config = {
  /** INTERPRETER_HOME or ~/.openinterpreter, absolute. */
  readonly home: string;
  /** The thread's working directory, absolute, as given (links not resolved). */
  readonly cwd: string;
  /** The nearest parent with a project root marker, else `cwd`. */
  readonly project_root: string;
  readonly model: string;
  readonly provider: ProviderSettings;
  readonly approval_policy: ApprovalPolicy;
  readonly sandbox_policy: SandboxPolicy;
  /** True where the value is a default and no layer chose it: refusals then name the argument that would allow it. */
  readonly defaulted: { readonly approval_policy: boolean; readonly sandbox_policy: boolean };
  readonly instructions: {
    /** Replaces the built-in base instructions when set. */
    readonly base: string | null;
    readonly developer: string | null;
    readonly compact_prompt: string | null;
  };
  readonly model_reasoning_effort: string | null;
  readonly model_reasoning_summary: 'auto' | 'concise' | 'detailed' | 'none' | null;
  readonly model_verbosity: 'low' | 'medium' | 'high' | null;
  readonly service_tier: string | null;
  /** Tokens. */
  readonly model_context_window: number | null;
  readonly model_auto_compact_token_limit: number | null;
  readonly tool_output_token_limit: number | null;
  readonly model_catalog_json: string | null;
  readonly review_model: string | null;
  /** Model-facing profile; null = by model family. */
  readonly harness: string | null;
  readonly web_search: 'disabled' | 'cached' | 'live';
  readonly hide_agent_reasoning: boolean;
  readonly show_raw_agent_reasoning: boolean;
  readonly include_permissions_instructions: boolean;
  readonly include_environment_context: boolean;
  readonly project_doc: { readonly max_bytes: number; readonly fallback_filenames: readonly string[] };
  readonly project_root_markers: readonly string[];
  readonly allow_login_shell: boolean;
  readonly background_terminal_max_timeout_ms: number;
  readonly shell_environment: ShellEnvironmentPolicy;
  readonly features: Readonly<Record<FeatureName, boolean>>;
  readonly mcp_servers: readonly McpServerSettings[];
  readonly mcp_server: {
    readonly events: 'codex' | 'none';
    readonly thread_id_text: boolean;
    readonly approval_timeout_ms: number;
  };
  readonly skills: { readonly include_instructions: boolean; readonly disabled_paths: readonly string[] };
  readonly hooks: readonly HookSettings[];
  readonly notify: readonly string[] | null;
  readonly otel: OtelSettings;
  /** Folders that hold `.rules` files, in order; only trusted layers. */
  readonly rules_dirs: readonly string[];
  readonly log_dir: string | null;
  readonly sqlite_home: string;
  /** False: no rollout is written (`exec --ephemeral`). */
  readonly persist: boolean;
  /** What `[projects]` says about the project; null = nothing. */
  readonly trust: 'trusted' | 'untrusted' | null;
  /** The overrides that came with a call, as they came: what its thread needs again when it is resumed. */
  readonly call_config: readonly Override[];
  /** Things a person should know; each is shown once. */
  readonly warnings: readonly string[];
};

/** Features that do something here. Others of the reference are accepted with a warning. */
export const FEATURES = { unified_exec: true, view_image: true, hooks: true, tool_search: true, undo: false } as const;
export type FeatureName = keyof typeof FEATURES;

/** One override of `-c`, `--enable`, or a call's `config`: a dotted path and its value. */
export type Override = { readonly path: string; readonly value: unknown; readonly source: string };

export type LoadOptions = {
  readonly env: Env;
  /** The process's own directory; the base of relative paths in overrides. */
  readonly process_cwd: string;
  /** The thread's directory; default `process_cwd`. Relative values resolve against `process_cwd`. */
  readonly cwd?: string;
  readonly profile?: string;
  /** In order, later ones win: `-c` flags first, a call's `config` after them. */
  readonly overrides?: readonly Override[];
  /** Dedicated flags and tool arguments; they win over everything. */
  readonly arguments?: {
    readonly model?: string;
    readonly sandbox?: string;
    readonly approval_policy?: string;
    readonly base_instructions?: string;
    readonly developer_instructions?: string;
    readonly compact_prompt?: string;
    readonly writable_roots?: readonly string[];
    readonly model_provider?: string;
    /** A permission profile (`-P`); not together with `sandbox`. */
    readonly permission_profile?: string;
  };
  /** `--oss`: a local provider; true = the one of `oss_provider`. */
  readonly oss?: boolean | 'ollama' | 'lmstudio';
  readonly strict?: boolean;
  readonly ignore_user_config?: boolean;
  readonly ignore_rules?: boolean;
  /** What applies when no layer chose: `exec` and `mcp-server` differ in the approval policy. */
  readonly front_door: 'mcp-server' | 'exec';
  /** False: the approval policy is `never` whatever files and overrides say. Default: true, but false in `exec`. */
  readonly can_ask?: boolean;
  /** False: no rollout is to be written. Default true. */
  readonly persist?: boolean;
  /** True for a provider whose key was stored by `interpreter login`. */
  readonly logged_in?: (provider: string) => boolean;
  /** Keeps parsed files between loads. */
  readonly cache?: ConfigCache;
  /** Default /etc/openinterpreter/config.toml. */
  readonly system_file?: string;
};
