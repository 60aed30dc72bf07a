/** The question to a person, and the answer. */
import type { FileChange, ParsedCommand } from './item.js';

export type ApprovalRequest = {
  /** Unique within the process. */
  id: string;
  thread_id: string;
  turn_id: string;
  call_id: string;
  /** Why: the model's justification, or the text of a rule. */
  reason: string | null;
  /** An approval for the thread would remember nothing, so it is not offered; absent when it would. */
  once_only?: true;
} & (
  | {
      type: 'command';
      command: string[];
      cwd: string;
      parsed: ParsedCommand[];
      /** True when an approval means: run outside the sandbox. */
      unsandboxed: boolean;
      /** A prefix that may be saved as an `allow` rule; absent when none can be offered. */
      proposed_rule?: string[];
    }
  | { type: 'patch'; changes: Record<string, FileChange>; cwd: string; unsandboxed: boolean; grant_root?: string }
  | { type: 'mcp_tool'; server: string; tool: string; arguments: unknown; description: string | null }
  /** A question of an inner MCP server, passed on as it came. */
  | { type: 'elicitation'; server: string; message: string; requested_schema: unknown }
);

/** Who said no. `person` only when a person surely did; hosts decline by themselves in milliseconds. */
export type DeniedBy = 'person' | 'client' | 'policy' | 'timeout';

export type ApprovalDecision =
  | { type: 'approved'; note?: string; content?: unknown }
  | { type: 'approved_for_thread'; note?: string }
  /** Approved, and `prefix` is saved as an `allow` rule. */
  | { type: 'approved_with_rule'; prefix: string[] }
  | { type: 'denied'; by: DeniedBy; reason: string }
  /** The turn ends. */
  | { type: 'abort' };

/** Resolves in bounded time or when the signal fires; never rejects. Anything unclear is a denial. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>;
