/** What a tool call is about to do, as far as approvals are concerned, and the verdict on it. */
import type { FileChange } from './item.js';

export type Action =
  /** Touches nothing that needs a decision. */
  | { type: 'none' }
  | {
      type: 'command';
      /** As it will be spawned, e.g. `["/bin/bash", "-lc", script]`. */
      argv: string[];
      cwd: string;
      /** The model asks to run outside the sandbox. */
      escalated: boolean;
      justification: string | null;
      prefix_rule: string[] | null;
    }
  | {
      type: 'patch';
      /** Keyed by absolute path. */
      changes: Record<string, FileChange>;
      /** Real paths of everything written, links resolved (both ends of a move). */
      writes: string[];
      cwd: string;
    }
  | {
      type: 'mcp_tool';
      server: string;
      tool: string;
      arguments: unknown;
      description: string | null;
      approval_mode: 'auto' | 'prompt' | 'writes' | 'approve';
      read_only: boolean;
      destructive: boolean;
      open_world: boolean;
    };

/**
 * `run`: go ahead; `sandboxed` false means outside the sandbox. `ask`: a person decides; `sandboxed` says how it runs
 * once approved; `keys` are what an approval for the thread is remembered under. `refuse`: `reason` goes to the model.
 */
export type Verdict =
  | { type: 'run'; sandboxed: boolean }
  | { type: 'ask'; sandboxed: boolean; reason: string | null; proposed_rule: string[] | null; keys: string[] }
  | { type: 'refuse'; reason: string };
