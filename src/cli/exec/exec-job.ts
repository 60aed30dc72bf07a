/** What one run of `interpreter exec` was asked to do. */
import type { SandboxMode } from '../../protocol/index.js';
import type { ConfigFlags } from '../options.js';

export type ReviewSubject =
  | { readonly type: 'uncommitted' }
  | { readonly type: 'base'; readonly branch: string }
  | { readonly type: 'commit'; readonly sha: string; readonly title: string | null }
  /** What the prompt says. */
  | { readonly type: 'custom' };

export type ExecTarget =
  | { readonly type: 'start' }
  | { readonly type: 'resume'; readonly id: string }
  /** The thread used last: of this directory, or of all. */
  | { readonly type: 'resume_last'; readonly all: boolean }
  | { readonly type: 'fork'; readonly id: string }
  | { readonly type: 'review'; readonly subject: ReviewSubject };

export type ExecFlags = ConfigFlags & {
  readonly model?: string;
  readonly sandbox?: SandboxMode;
  readonly cd?: string;
  readonly addDirs: readonly string[];
  readonly images: readonly string[];
  readonly oss: boolean;
  readonly localProvider?: 'ollama' | 'lmstudio';
  /** No question, no sandbox. */
  readonly yolo: boolean;
  readonly bypassHookTrust: boolean;
  readonly skipGitCheck: boolean;
  readonly ephemeral: boolean;
  readonly ignoreUserConfig: boolean;
  readonly ignoreRules: boolean;
  readonly outputSchema?: string;
  readonly outputLastMessage?: string;
  readonly color: 'always' | 'never' | 'auto';
  readonly json: boolean;
  readonly approvalsFd?: number;
};

export type ExecJob = {
  readonly target: ExecTarget;
  readonly prompt: string | undefined;
  readonly flags: ExecFlags;
};
