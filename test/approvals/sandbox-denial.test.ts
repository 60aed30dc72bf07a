import { describe, expect, test } from 'vitest';
import { explainSandboxDenial, looksLikeSandboxDenial, withNetworkRules } from '../../src/approvals/index.js';
import { POLICIES, SANDBOXES } from './support.js';

describe('a failure looks like the sandbox', () => {
  test.each([
    [1, "touch: cannot touch 'x': Read-only file system"],
    [1, 'mkdir: Permission denied'],
    [2, 'OPERATION NOT PERMITTED'],
    [127, 'bwrap: sandbox error'],
    [1, 'landlock'],
    [1, 'blocked by seccomp'],
    [1, 'failed to write file'],
    [159, ''],
  ])('exit status %i with %j', (exit, output) => {
    expect(looksLikeSandboxDenial(exit, output)).toBe(true);
  });
  test.each([
    [0, 'Permission denied'],
    [1, 'assertion failed'],
    [2, ''],
    [126, ''],
    [127, 'command not found'],
  ])('not: exit status %i with %j', (exit, output) => {
    expect(looksLikeSandboxDenial(exit, output)).toBe(false);
  });
});

describe('the explanation', () => {
  const defaulted = { approval_policy: false, sandbox_policy: false };
  const explain = (policy: keyof typeof POLICIES, sandbox: keyof typeof SANDBOXES) =>
    explainSandboxDenial({ policy: POLICIES[policy], sandbox: SANDBOXES[sandbox], defaulted });

  test('offers the question where one may be asked', () => {
    for (const policy of ['on-request', 'granular', 'granular without rules'] as const) {
      expect(explain(policy, 'read-only')).toMatch(/read-only.*no network.*require_escalated/);
    }
  });

  test('names the setting where none may be asked', () => {
    for (const policy of ['untrusted', 'never', 'granular without sandbox_approval'] as const) {
      expect(explain(policy, 'workspace-write')).toMatch(/workspace-write.*sandbox_mode = "danger-full-access"/);
      expect(explain(policy, 'workspace-write')).not.toContain('require_escalated');
    }
  });

  test('says nothing where nothing is sandboxed', () => {
    expect(explain('never', 'danger-full-access')).toBeNull();
  });

  test('says what of the network is open', () => {
    const facts = { policy: 'never', defaulted } as const;
    const open = { ...SANDBOXES['workspace-write'], network_access: true };
    expect(explainSandboxDenial({ ...facts, sandbox: open })).not.toContain('network');
    expect(explain('never', 'profile')).toContain('no network');
    for (const [network, words] of [
      [{ type: 'domains', allow: [], deny: [] } as const, 'only listed hosts'],
      [{ type: 'on' } as const, 'only its paths'],
    ] as const) {
      expect(explainSandboxDenial({ ...facts, sandbox: { ...SANDBOXES.profile, network } })).toContain(words);
    }
  });
});

describe('rules for hosts', () => {
  const rule = (host: string, decision: 'allow' | 'prompt' | 'forbidden') =>
    ({ host, protocol: 'https', decision, justification: null }) as const;
  const rules = {
    prefixes: [],
    hostExecutables: new Map(),
    network: [rule('a.com', 'allow'), rule('b.com', 'forbidden'), rule('c.com', 'prompt')],
  };
  test('join the domains of a profile; a question that nobody can be asked denies', () => {
    const profile = { ...SANDBOXES.profile, network: { type: 'domains', allow: ['x.com'], deny: ['y.com'] } as const };
    expect(withNetworkRules(profile, rules)).toEqual({
      ...profile,
      network: { type: 'domains', allow: ['x.com', 'a.com'], deny: ['y.com', 'b.com', 'c.com'] },
    });
  });
  test('change nothing where the network is on or off as a whole', () => {
    for (const sandbox of Object.values(SANDBOXES)) expect(withNetworkRules(sandbox, rules)).toBe(sandbox);
  });
});
