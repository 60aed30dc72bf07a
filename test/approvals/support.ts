/** Contexts and actions for the tests of verdicts. */
import {
  createGrants,
  createShellGrammarLoader,
  type JudgeContext,
  judge,
  NO_RULES,
} from '../../src/approvals/index.js';
import type { Action, ApprovalPolicy, SandboxPolicy, Verdict } from '../../src/protocol/index.js';

export const SANDBOXES = {
  'read-only': { type: 'read-only' },
  'workspace-write': {
    type: 'workspace-write',
    writable_roots: [],
    network_access: false,
    exclude_tmpdir_env_var: false,
    exclude_slash_tmp: false,
    allow_unix_sockets: false,
  },
  'danger-full-access': { type: 'danger-full-access' },
  profile: { type: 'profile', name: 'narrow', filesystem: [], network: { type: 'off' }, allow_unix_sockets: false },
} as const satisfies Record<string, SandboxPolicy>;

const ALL_ASKED = {
  sandbox_approval: true,
  rules: true,
  mcp_elicitations: true,
  request_permissions: true,
  skill_approval: true,
};

export const POLICIES = {
  untrusted: 'untrusted',
  'on-request': 'on-request',
  never: 'never',
  granular: { granular: ALL_ASKED },
  'granular without sandbox_approval': { granular: { ...ALL_ASKED, sandbox_approval: false } },
  'granular without rules': { granular: { ...ALL_ASKED, rules: false } },
  'granular without mcp_elicitations': { granular: { ...ALL_ASKED, mcp_elicitations: false } },
} as const satisfies Record<string, ApprovalPolicy>;

export const grammar = await createShellGrammarLoader().load();

export function contextOf(changes: Partial<JudgeContext> = {}): JudgeContext {
  return {
    policy: 'untrusted',
    sandbox: SANDBOXES['workspace-write'],
    rules: NO_RULES,
    grants: createGrants(),
    grammar,
    patchAccess: 'writable',
    defaulted: { approval_policy: false, sandbox_policy: false },
    ...changes,
  };
}

export type CommandAction = Action & { type: 'command' };

/** The action of a shell tool that runs `script`. */
export function shell(script: string, changes: Partial<CommandAction> = {}): CommandAction {
  return {
    type: 'command',
    argv: ['/bin/bash', '-lc', script],
    cwd: '/w',
    escalated: false,
    justification: null,
    prefix_rule: null,
    ...changes,
  };
}

/** `run sandboxed`, `ask, then run free`, `refuse`: a verdict in the words of a table. */
export function inWords(verdict: Verdict): string {
  switch (verdict.type) {
    case 'run':
      return verdict.sandboxed ? 'run sandboxed' : 'run free';
    case 'ask':
      return verdict.sandboxed ? 'ask, then run sandboxed' : 'ask, then run free';
    case 'refuse':
      return 'refuse';
  }
}

export function verdictOn(script: string, changes: Partial<JudgeContext> = {}): string {
  return inWords(judge(shell(script), contextOf(changes)));
}

export function refusalOf(action: Action, changes: Partial<JudgeContext>): string {
  const verdict = judge(action, contextOf(changes));
  return verdict.type === 'refuse' ? verdict.reason : `not refused: ${inWords(verdict)}`;
}
