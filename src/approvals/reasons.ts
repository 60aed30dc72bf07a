/** The sentences that say why something is not done: which policy refused it, and what would allow it. */
import type { ApprovalPolicy, SandboxPolicy } from '../protocol/index.js';
import type { Restriction } from './rules/judge-by-rules.js';

/** The two policies, and whether anybody chose them. */
export type PolicyFacts = {
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxPolicy;
  /** True where the value is a default and no layer of the configuration chose it. */
  readonly defaulted: { readonly approval_policy: boolean; readonly sandbox_policy: boolean };
};

/** The categories of a granular policy that can refuse here. */
export type Category = 'sandbox_approval' | 'rules' | 'mcp_elicitations';

/** `never`, or the category that a granular policy switches off. */
function approvalPolicyText(policy: ApprovalPolicy, category: Category): string {
  return typeof policy === 'string'
    ? `approval policy is ${policy}`
    : `approval policy is granular with ${category} = false`;
}

/** How the caller can have such a question asked. */
function approvalHint(facts: PolicyFacts, category: Category): string {
  if (typeof facts.policy !== 'string') return `The caller can allow the question with granular.${category} = true.`;
  return facts.defaulted.approval_policy
    ? `Nobody chose this policy, it is the default: the caller can set the tool argument \`approval-policy\` to "on-request".`
    : 'The caller can have it asked with approval_policy = "on-request".';
}

/** How the caller can widen the sandbox. */
function sandboxHint(facts: PolicyFacts): string {
  if (facts.sandbox.type === 'profile') return `The caller can widen the permission profile "${facts.sandbox.name}".`;
  const wider = facts.sandbox.type === 'read-only' ? 'workspace-write' : 'danger-full-access';
  return facts.defaulted.sandbox_policy
    ? `Nobody chose this sandbox, it is the default: the caller can set the tool argument \`sandbox\` to "${wider}".`
    : `The caller can allow it with sandbox_mode = "${wider}".`;
}

export function escalationRefused(facts: PolicyFacts): string {
  const why = `${approvalPolicyText(facts.policy, 'sandbox_approval')}; command rejected: `;
  if (facts.sandbox.type === 'danger-full-access') {
    return `${why}it asks for escalated permissions, but nothing is sandboxed here. Run it without sandbox_permissions.`;
  }
  return (
    `${why}under this policy no command may ask for escalated permissions. Run it inside the sandbox ` +
    `(${facts.sandbox.type}), without sandbox_permissions. ${approvalHint(facts, 'sandbox_approval')}`
  );
}

export function forcedRmRefused(facts: PolicyFacts, command: string, seen: boolean): string {
  const what = seen
    ? 'rm -f style commands are not permitted'
    : 'it may hold an rm -f style command, which is not permitted, and its shell syntax could not be read completely';
  const instead = seen ? 'Delete without -f, naming what is to go.' : 'Write it in simpler steps.';
  return (
    `\`${command}\` rejected: ${what} when nobody can be asked ` +
    `(${approvalPolicyText(facts.policy, 'sandbox_approval')}). ${instead}`
  );
}

export function forbiddenByRule(command: string, rule: Restriction): string {
  if (!rule.seen) return `\`${command}\` rejected: ${unreadable(rule)}. Write it in simpler steps.`;
  return `\`${command}\` rejected: ${rule.justification ?? `a rule forbids commands starting with \`${rule.prefix.join(' ')}\``}`;
}

/** The question of a `prompt` rule. */
export function promptedByRule(command: string, rule: Restriction): string {
  const why = rule.seen ? (rule.justification ?? 'a rule asks for it') : unreadable(rule);
  return `\`${command}\` requires approval: ${why}`;
}

function unreadable({ prefix }: Restriction): string {
  return `a rule restricts \`${prefix.join(' ')}\`, and the shell syntax could not be read completely`;
}

export function promptRefused(facts: PolicyFacts, command: string, rule: Restriction): string {
  return (
    `${promptedByRule(command, rule)}; but ${approvalPolicyText(facts.policy, 'rules')}, so nobody can be asked and it ` +
    `was not run. ${approvalHint(facts, 'rules')}`
  );
}

export function patchRefused(facts: PolicyFacts, access: 'outside' | 'no_writable_root'): string {
  const what =
    access === 'no_writable_root'
      ? `writing is blocked by the ${facts.sandbox.type} sandbox`
      : 'writing outside of the project: a file is outside the writable roots, or protected such as .git';
  const why = `${approvalPolicyText(facts.policy, 'sandbox_approval')}, so nobody can be asked`;
  return `patch rejected: ${what}; ${why}. ${sandboxHint(facts)}`;
}

export function mcpToolRefused(facts: PolicyFacts, server: string, tool: string): string {
  return (
    `MCP tool call requires approval, but ${approvalPolicyText(facts.policy, 'mcp_elicitations')}: \`${tool}\` of ` +
    `\`${server}\` was not called. ${approvalHint(facts, 'mcp_elicitations')} A tool can also be allowed by ` +
    `mcp_servers.${server}.tools.${tool}.approval_mode = "approve".`
  );
}
