import { describe, expect, test } from 'vitest';
import { judge, type PatchAccess } from '../../src/approvals/index.js';
import type { Action } from '../../src/protocol/index.js';
import { contextOf, inWords, POLICIES, refusalOf, SANDBOXES, shell } from './support.js';

const COMMANDS = {
  ordinary: shell('touch x'),
  trusted: shell('ls'),
  'forced rm': shell('rm -rf zzz'),
  'escalated ordinary': shell('touch x', { escalated: true }),
  'escalated trusted': shell('ls', { escalated: true }),
  'escalated forced rm': shell('rm -rf zzz', { escalated: true }),
};

const [RUN_S, RUN_F] = ['run sandboxed', 'run free'];
const [ASK_S, ASK_F] = ['ask, then run sandboxed', 'ask, then run free'];
const NO = 'refuse';

// policy, sandbox, then one column per command above
const COMMAND_TABLE: [keyof typeof POLICIES, (keyof typeof SANDBOXES)[], ...string[]][] = [
  ['untrusted', ['read-only', 'workspace-write', 'profile'], ASK_S, RUN_S, ASK_S, NO, NO, NO],
  ['untrusted', ['danger-full-access'], ASK_F, RUN_F, ASK_F, NO, NO, NO],
  ['on-request', ['read-only', 'workspace-write', 'profile'], RUN_S, RUN_S, ASK_S, ASK_F, ASK_F, ASK_F],
  ['on-request', ['danger-full-access'], RUN_F, RUN_F, ASK_F, RUN_F, RUN_F, ASK_F],
  ['never', ['read-only', 'workspace-write', 'profile'], RUN_S, RUN_S, NO, NO, NO, NO],
  ['never', ['danger-full-access'], RUN_F, RUN_F, NO, NO, NO, NO],
  ['granular', ['read-only', 'workspace-write', 'profile'], RUN_S, RUN_S, ASK_S, ASK_F, ASK_F, ASK_F],
  ['granular', ['danger-full-access'], RUN_F, RUN_F, ASK_F, RUN_F, RUN_F, ASK_F],
  ['granular without rules', ['read-only', 'workspace-write'], RUN_S, RUN_S, ASK_S, ASK_F, ASK_F, ASK_F],
  ['granular without sandbox_approval', ['read-only', 'workspace-write', 'profile'], RUN_S, RUN_S, NO, NO, NO, NO],
  ['granular without sandbox_approval', ['danger-full-access'], RUN_F, RUN_F, NO, RUN_F, RUN_F, NO],
];

describe('commands', () => {
  const cells = COMMAND_TABLE.flatMap(([policy, sandboxes, ...verdicts]) =>
    sandboxes.flatMap(sandbox =>
      Object.entries(COMMANDS).map(([name, action], i) => ({ policy, sandbox, name, action, verdict: verdicts[i] })),
    ),
  );
  test.each(cells)('$policy, $sandbox: a command that is $name: $verdict', ({ policy, sandbox, action, verdict }) => {
    const context = contextOf({ policy: POLICIES[policy], sandbox: SANDBOXES[sandbox] });
    expect(inWords(judge(action, context))).toBe(verdict);
  });
});

const PATCH: Action & { type: 'patch' } = {
  type: 'patch',
  changes: { '/w/a': { type: 'add', content: 'x\n' } },
  writes: ['/w/a'],
  cwd: '/w',
};

// policy, then: every path writable, some path outside, no writable root, full access
const PATCH_TABLE: [keyof typeof POLICIES, ...string[]][] = [
  ['untrusted', ASK_S, ASK_F, ASK_F, ASK_F],
  ['on-request', RUN_S, ASK_F, ASK_F, RUN_F],
  ['granular', RUN_S, ASK_F, ASK_F, RUN_F],
  ['never', RUN_S, NO, NO, RUN_F],
  ['granular without sandbox_approval', RUN_S, NO, NO, RUN_F],
];
const PATCH_COLUMNS: [keyof typeof SANDBOXES, PatchAccess][] = [
  ['workspace-write', 'writable'],
  ['workspace-write', 'outside'],
  ['read-only', 'no_writable_root'],
  ['danger-full-access', 'outside'],
];

describe('patches', () => {
  const cells = PATCH_TABLE.flatMap(([policy, ...verdicts]) =>
    PATCH_COLUMNS.map(([sandbox, patchAccess], i) => ({ policy, sandbox, patchAccess, verdict: verdicts[i] })),
  );
  test.each(cells)('$policy, $sandbox, $patchAccess: $verdict', ({ policy, sandbox, patchAccess, verdict }) => {
    const context = contextOf({ policy: POLICIES[policy], sandbox: SANDBOXES[sandbox], patchAccess });
    expect(inWords(judge(PATCH, context))).toBe(verdict);
  });

  test('a profile is like workspace-write', () => {
    for (const patchAccess of ['writable', 'outside'] as const) {
      for (const policy of Object.values(POLICIES)) {
        const [profile, workspace] = (['profile', 'workspace-write'] as const).map(sandbox =>
          inWords(judge(PATCH, contextOf({ policy, sandbox: SANDBOXES[sandbox], patchAccess }))),
        );
        expect(profile).toBe(workspace);
      }
    }
  });
});

type McpTool = Action & { type: 'mcp_tool' };
const mcpTool = (changes: Partial<McpTool>): McpTool => ({
  type: 'mcp_tool',
  server: 'files',
  tool: 'write',
  arguments: {},
  description: null,
  approval_mode: 'auto',
  read_only: false,
  destructive: true,
  open_world: true,
  ...changes,
});

describe('tools of other MCP servers', () => {
  const TOOLS = {
    'read-only': { read_only: true },
    'neither read-only nor harmful': { destructive: false, open_world: false },
    'open-world': { destructive: false },
    destructive: { open_world: false },
  };
  // approval mode, then one column per tool above
  const TABLE: [McpTool['approval_mode'], ...boolean[]][] = [
    ['auto', false, false, true, true],
    ['writes', false, true, true, true],
    ['prompt', true, true, true, true],
    ['approve', false, false, false, false],
  ];
  const cells = TABLE.flatMap(([approval_mode, ...asks]) =>
    Object.entries(TOOLS).map(([name, facts], i) => ({ approval_mode, name, facts, asks: asks[i] })),
  );
  test.each(cells)('$approval_mode: a tool that is $name: asked $asks', ({ approval_mode, facts, asks }) => {
    const action = mcpTool({ approval_mode, ...facts });
    for (const policy of ['untrusted', 'on-request', 'granular'] as const) {
      expect(inWords(judge(action, contextOf({ policy: POLICIES[policy] })))).toBe(asks ? ASK_F : RUN_F);
    }
    for (const policy of ['never', 'granular without mcp_elicitations'] as const) {
      expect(inWords(judge(action, contextOf({ policy: POLICIES[policy] })))).toBe(asks ? NO : RUN_F);
    }
  });

  test('without a sandbox and with nobody to ask only a tool that must be asked for is refused', () => {
    const context = contextOf({ policy: 'never', sandbox: SANDBOXES['danger-full-access'] });
    expect(inWords(judge(mcpTool({}), context))).toBe(RUN_F);
    expect(inWords(judge(mcpTool({ approval_mode: 'prompt' }), context))).toBe(NO);
  });

  test('the refusal names the policy and both ways out', () => {
    const reason = refusalOf(mcpTool({}), {
      policy: 'never',
      defaulted: { approval_policy: true, sandbox_policy: true },
    });
    expect(reason).toContain('approval policy is never');
    expect(reason).toContain('tool argument `approval-policy`');
    expect(reason).toContain('mcp_servers.files.tools.write.approval_mode = "approve"');
    expect(reason).not.toMatch(/\buser\b/);
  });
});

test('an action that touches nothing runs under every policy', () => {
  for (const policy of Object.values(POLICIES)) {
    expect(judge({ type: 'none' }, contextOf({ policy }))).toEqual({ type: 'run', sandboxed: true });
  }
});

describe('what a refusal says', () => {
  const defaulted = { approval_policy: true, sandbox_policy: true };

  test('a policy that somebody chose is named with its setting', () => {
    const reason = refusalOf(COMMANDS['escalated ordinary'], { policy: 'never' });
    expect(reason).toContain('approval policy is never');
    expect(reason).toContain('approval_policy = "on-request"');
    expect(reason).toContain('without sandbox_permissions');
    expect(reason).not.toContain('tool argument');
  });

  test('a policy that is only the default is named with the tool argument', () => {
    expect(refusalOf(COMMANDS['escalated ordinary'], { policy: 'never', defaulted })).toContain(
      'tool argument `approval-policy` to "on-request"',
    );
    const readOnly = { sandbox: SANDBOXES['read-only'], patchAccess: 'no_writable_root', policy: 'never' } as const;
    expect(refusalOf(PATCH, { ...readOnly, defaulted })).toContain('tool argument `sandbox` to "workspace-write"');
    expect(refusalOf(PATCH, readOnly)).toContain('sandbox_mode = "workspace-write"');
  });

  test('a patch outside says so, and that the sandbox is read-only where it is', () => {
    expect(refusalOf(PATCH, { policy: 'never', patchAccess: 'outside' })).toMatch(
      /writing outside of the project.*danger-full-access/,
    );
    const context = { policy: 'never', patchAccess: 'no_writable_root', sandbox: SANDBOXES['read-only'] } as const;
    expect(refusalOf(PATCH, context)).toContain('blocked by the read-only sandbox');
    expect(refusalOf(PATCH, { ...context, sandbox: SANDBOXES.profile })).toContain('permission profile "narrow"');
  });

  test('a granular policy is named by its category', () => {
    const policy = POLICIES['granular without sandbox_approval'];
    expect(refusalOf(COMMANDS['escalated ordinary'], { policy })).toContain('granular.sandbox_approval = true');
    expect(refusalOf(COMMANDS['forced rm'], { policy })).toContain('granular with sandbox_approval = false');
  });

  test('a forced rm is named, and a long script is shortened', () => {
    const reason = refusalOf(shell(`rm -rf ${'x'.repeat(5000)}`), { policy: 'never' });
    expect(reason).toContain('rm -f style commands are not permitted');
    expect(reason.length).toBeLessThan(1000);
  });

  test('full access has nothing to escalate from', () => {
    const context = { policy: 'never', sandbox: SANDBOXES['danger-full-access'] } as const;
    expect(refusalOf(COMMANDS['escalated ordinary'], context)).toContain('nothing is sandboxed here');
  });
});
