/** A thread as a list shows it: what the index keeps about it, and what its rollout says. */
import type { TokenUsage } from './history.js';

/**
 * `running`: a turn is under way in a live process. `interrupted`: the last turn was aborted, or its process died.
 * `failed`: the last turn ended with an error. `idle`: anything else.
 */
export type ThreadStatus = 'running' | 'idle' | 'interrupted' | 'failed';

export type GitInfo = { readonly branch?: string; readonly commit_hash?: string; readonly repository_url?: string };

export type ThreadSummary = {
  readonly id: string;
  readonly rollout_path: string;
  /** Directory of the latest turn. */
  readonly cwd: string;
  /** First line of the first prompt, cut to 200 characters; "" when there was none yet. */
  readonly title: string;
  readonly model: string | null;
  readonly model_provider: string | null;
  /** For display: `never`, `on-request`, `untrusted`, `granular`. */
  readonly approval_policy: string | null;
  /** For display: the type of the policy. */
  readonly sandbox_policy: string | null;
  /** What started it: `mcp`, `exec`, `cli`, … */
  readonly source: string;
  readonly status: ThreadStatus;
  /** The process that runs its turn; null while none does. */
  readonly runner_pid: number | null;
  readonly usage: TokenUsage;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly archived: boolean;
  readonly git: GitInfo | null;
  readonly forked_from_id: string | null;
  /** The thread whose file holds the first part of this one's history; that file must stay. */
  readonly history_base_id: string | null;
};
