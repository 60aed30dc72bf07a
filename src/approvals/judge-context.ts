import type { ApprovalPolicy, SandboxPolicy } from '../protocol/index.js';
import type { Grants } from './grants.js';
import type { PolicyFacts } from './reasons.js';
import type { Rules } from './rules/rules.js';
import type { ShellGrammar } from './shell/shell-grammar.js';

/**
 * What the sandbox lets a patch write: every path; not every path (outside the roots, or a protected name); or there
 * is no writable root at all.
 */
export type PatchAccess = 'writable' | 'outside' | 'no_writable_root';

export type JudgeContext = {
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxPolicy;
  readonly rules: Rules;
  readonly grants: Pick<Grants, 'has'>;
  /** May be null unless `needsGrammar` says so; what can't be read then counts as the worst it may be. */
  readonly grammar: ShellGrammar | null;
  /** Of this patch; without meaning for other actions. */
  readonly patchAccess: PatchAccess;
  readonly defaulted: PolicyFacts['defaulted'];
  /** Absolute path of the user's shell, trusted like a shell in a system folder. */
  readonly userShell?: string;
};
