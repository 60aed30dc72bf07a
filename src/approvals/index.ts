/**
 * May this action run? A pure verdict from the policies, the rules and what was granted before; the rules files; the
 * words a command is shown with.
 * This room never runs anything, never asks anybody, and takes what it does not understand for the worst it may be.
 */
export { createGrants, type Grants } from './grants.js';
export { judge, needsGrammar } from './judge.js';
export type { JudgeContext, PatchAccess } from './judge-context.js';
export { parseCommand } from './parse-command.js';
export { denialText, type PolicyFacts } from './reasons.js';
export { isTooBroad } from './rules/broad-prefix.js';
export { checkCommand, type RuleCheck } from './rules/check-command.js';
export { type LoadedRules, loadRules, loadRulesFiles } from './rules/load-rules.js';
export { withNetworkRules } from './rules/network-rules.js';
export { type RulesFile, readRules } from './rules/read-rules.js';
export {
  type NetworkRule,
  NO_RULES,
  type PrefixRule,
  type RuleDecision,
  type Rules,
  withAllowRule,
} from './rules/rules.js';
export { saveAllowRule, savedRulesPath } from './rules/save-allow-rule.js';
export { explainSandboxDenial, looksLikeSandboxDenial } from './sandbox-denial.js';
export {
  createShellGrammarLoader,
  type GrammarOptions,
  loadShellGrammar,
  type ShellGrammar,
  type ShellGrammarLoader,
} from './shell/shell-grammar.js';
