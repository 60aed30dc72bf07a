import type { SandboxPolicy } from '../../protocol/index.js';
import type { Rules } from './rules.js';

/**
 * Puts the hosts of `network_rule` into a profile that lists domains; other policies stay as they are, since they have
 * the whole network or none. `prompt` denies: nobody can be asked while a command waits for its connection.
 */
export function withNetworkRules(policy: SandboxPolicy, rules: Rules): SandboxPolicy {
  if (policy.type !== 'profile' || policy.network.type !== 'domains' || rules.network.length === 0) return policy;
  const hosts = (allowed: boolean) =>
    rules.network.filter(rule => (rule.decision === 'allow') === allowed).map(rule => rule.host);
  const { allow, deny } = policy.network;
  return {
    ...policy,
    network: { type: 'domains', allow: [...allow, ...hosts(true)], deny: [...deny, ...hosts(false)] },
  };
}
