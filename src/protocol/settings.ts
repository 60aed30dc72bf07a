/** Settings that cross rooms: what configuration resolves to for rooms that may not import it. */

/** `[mcp_servers.<name>]` after defaults. Times in milliseconds. */
export type McpServerSettings = {
  readonly name: string;
  readonly transport:
    | {
        readonly type: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        /** Values already resolved (`env:NAME` forms included). */
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
      }
    | {
        readonly type: 'http';
        readonly url: string;
        readonly bearer_token_env_var?: string;
        readonly http_headers: Readonly<Record<string, string>>;
        readonly env_http_headers: Readonly<Record<string, string>>;
        readonly scopes: readonly string[];
        readonly oauth_resource?: string;
      };
  readonly required: boolean;
  readonly startup_timeout_ms: number;
  readonly tool_timeout_ms: number;
  /** null = all. */
  readonly enabled_tools: readonly string[] | null;
  readonly disabled_tools: readonly string[];
  readonly default_tools_approval_mode: 'auto' | 'prompt' | 'writes' | 'approve';
  readonly tool_approval_modes: Readonly<Record<string, 'auto' | 'prompt' | 'writes' | 'approve'>>;
  readonly supports_parallel_tool_calls: boolean;
};

/** `[shell_environment_policy]`; the algorithm is in `config/command-environment.ts`. */
export type ShellEnvironmentPolicy = {
  readonly inherit: 'all' | 'core' | 'none';
  /** False (our default) drops `*KEY*`, `*SECRET*`, `*TOKEN*`. */
  readonly ignore_default_excludes: boolean;
  readonly exclude: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  readonly include_only: readonly string[];
};

/** One handler of `[[hooks.<Event>]]` or hooks.json. */
export type HookSettings = {
  readonly event: HookEventName;
  /** Regular expression on the tool name; null = every tool. */
  readonly matcher: string | null;
  readonly command: string;
  readonly timeout_ms: number;
  readonly status_message: string | null;
  /** The file it came from, for messages and trust. */
  readonly source: string;
  readonly trusted: boolean;
};

export const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'Stop',
  'SessionEnd',
] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

export type OtelExporter =
  /** `chosen`: the configuration says so, and standard variables must not start anything. */
  | { readonly type: 'none'; readonly chosen?: true }
  | {
      readonly type: 'otlp-http' | 'otlp-grpc';
      readonly endpoint: string;
      readonly protocol: 'binary' | 'json';
      readonly headers: Readonly<Record<string, string>>;
      readonly tls?: {
        readonly ca_certificate?: string;
        readonly client_certificate?: string;
        readonly client_private_key?: string;
      };
    };

export type OtelSettings = {
  readonly environment: string;
  readonly exporter: OtelExporter;
  readonly trace_exporter: OtelExporter;
  readonly metrics_exporter: OtelExporter;
  readonly log_user_prompt: boolean;
  readonly span_attributes: Readonly<Record<string, string>>;
};
