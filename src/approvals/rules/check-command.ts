/** What the rules say about a command, as JSON for people and programs. */
import { matchRules, type RuleDecision, type Rules, strictest } from './rules.js';

export type RuleCheck = {
  matchedRules: {
    prefixRuleMatch: {
      matchedPrefix: readonly string[];
      decision: RuleDecision;
      resolvedProgram?: string;
      justification?: string;
    };
  }[];
  /** The strictest; absent when no rule matches. */
  decision?: RuleDecision;
};

/** `argv`: the words of one command; a script within it is not looked into. */
export function checkCommand(rules: Rules, argv: readonly string[]): RuleCheck {
  const matches = matchRules(rules, argv);
  const decisive = strictest(matches);
  return {
    matchedRules: matches.map(({ rule, prefix, resolvedProgram }) => ({
      prefixRuleMatch: {
        matchedPrefix: prefix,
        decision: rule.decision,
        ...(resolvedProgram === null ? {} : { resolvedProgram }),
        ...(rule.justification === null ? {} : { justification: rule.justification }),
      },
    })),
    ...(decisive === null ? {} : { decision: decisive.rule.decision }),
  };
}
