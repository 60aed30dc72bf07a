/**
 * May this action run? A pure verdict from the policies, the rules and what was granted before; the rules files; the
 * words a command is shown with.
 * This room never runs anything, never asks anybody, and takes what it does not understand for the worst it may be.
 */
export { createGrants, type Grants } from './grants.js';
export { judge, needsGrammar } from './judge.js';
export type { JudgeContext, PatchAccess } from './judge-context.js';
export { parseCommand } from './parse-command.js';
export { checkCommand } from './rules/check-command.js';
export { loadRules, loadRulesFiles } from './rules/load-rules.js';
export { withNetworkRules } from './rules/network-rules.js';
export { NO_RULES, type Rules } from './rules/rules.js';
export { saveAllowRule } from './rules/save-allow-rule.js';
export { createShellGrammarLoader, type ShellGrammar, type ShellGrammarLoader } from './shell/shell-grammar.js';
