/** What can be set: for all threads, for one thread, for one turn. Names and values are those of the Codex SDK. */
import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';

export type ConfigValue = string | number | boolean | ConfigValue[] | ConfigObject;
/** Values of config.toml; names may be dotted. Undefined values are left out. */
export type ConfigObject = { [key: string]: ConfigValue };

export type InterpreterOptions = {
  /** The program to run; default: the one of this package. Files that end in .js run in this Node. */
  interpreterPath?: string;
  /** The same, under its name in the Codex SDK. */
  codexPathOverride?: string;
  /** Base URL of the provider `openai`. */
  baseUrl?: string;
  /** Key for the provider `openai`. */
  apiKey?: string;
  /** Overrides of config.toml. */
  config?: ConfigObject;
  /** The whole environment of the program, instead of a copy of `process.env`. */
  env?: Record<string, string>;
};

export type ApprovalMode = 'never' | 'on-request' | 'on-failure' | 'untrusted';
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';
export type ModelReasoningEffort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
export type WebSearchMode = 'disabled' | 'cached' | 'live';

/** True = approved once; false = denied. */
export type ApprovalAnswer = boolean | ApprovalDecision;
/** `signal` fires when the answer is no longer wanted. */
export type ApprovalCallback = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>;

export type ThreadOptions = {
  model?: string;
  sandboxMode?: SandboxMode;
  workingDirectory?: string;
  skipGitRepoCheck?: boolean;
  modelReasoningEffort?: ModelReasoningEffort;
  /** Network for commands in the sandbox mode `workspace-write`. */
  networkAccessEnabled?: boolean;
  webSearchMode?: WebSearchMode;
  /** True = `live`, false = `disabled`; `webSearchMode` goes before it. */
  webSearchEnabled?: boolean;
  /** Without `approve` nobody is asked, and what needs approval is refused. */
  approvalPolicy?: ApprovalMode;
  /** Further folders that commands may write in. */
  additionalDirectories?: string[];
  /** Asked for approval; the policy is then `approvalPolicy` or the configured one (default `on-request`). */
  approve?: ApprovalCallback;
};

export type TurnOptions = {
  /** A JSON Schema that the answer has to match, or a schema of zod 4 (or another library with Standard JSON Schema). */
  outputSchema?: unknown;
  /** Ends the turn. */
  signal?: AbortSignal;
};

export type UserInput = { type: 'text'; text: string } | { type: 'local_image'; path: string };
/** Texts are joined by blank lines. */
export type Input = string | UserInput[];
