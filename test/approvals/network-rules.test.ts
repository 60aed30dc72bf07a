import { describe, expect, test } from 'vitest';
import { withNetworkRules } from '../../src/approvals/index.js';
import { SANDBOXES } from './support.js';

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
