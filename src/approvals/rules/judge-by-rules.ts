/** What the rules say about a whole command line, compound scripts included. */
import { everyCommand, mayRun } from '../shell/every-command.js';
import { readHeredocCommand } from '../shell/heredoc.js';
import type { Word } from '../shell/plain-script.js';
import { readCommand, type ScriptReader, shellScript } from '../shell/read-command.js';
import { matchRules, RULE_DECISIONS, type Rules, strictest } from './rules.js';

/** A rule that asks or forbids. */
export type Restriction = {
  readonly decision: 'prompt' | 'forbidden';
  /** The words the rule is about. */
  readonly prefix: readonly string[];
  readonly justification: string | null;
  /** False: the command mentions the program, but could not be read well enough to know whether it runs it. */
  readonly seen: boolean;
};

export type RuledCommand = {
  readonly restriction: Restriction | null;
  /** Every command of the script is allowed by a rule. */
  readonly allowsAll: boolean;
  /** The commands that no rule allows; an opaque script is one command. */
  readonly unruled: readonly (readonly string[])[];
};

/**
 * Restrictions look through wrappers, pipes, loops and substitutions; permission counts only for the commands of a
 * plain script, each by itself, or for a whole command line word by word.
 */
export function judgeByRules(
  argv: readonly string[],
  rules: Rules,
  read: ScriptReader,
  userShell?: string,
): RuledCommand {
  const restriction = findRestriction(argv, rules, read);
  if (!mayRun(argv, programsOf(rules, ['allow']))) return { restriction, allowsAll: false, unruled: [argv] };
  const { plain, commands } = readCommand(argv, read, userShell);
  const unruled = commands.filter(words => !isAllowedByRule(rules, words));
  const heredoc = plain ? null : readHeredocCommand(shellScript(argv, userShell) ?? '');
  return {
    restriction,
    allowsAll: unruled.length === 0 || (heredoc !== null && isAllowedByRule(rules, heredoc)),
    unruled: plain ? unruled.map(words => words.map(word => word.text)) : [argv],
  };
}

export function isAllowedByRule(rules: Rules, words: readonly Word[]): boolean {
  const matches = matchRules(
    rules,
    words.map(word => word.text),
  );
  return strictest(matches)?.rule.decision === 'allow';
}

function findRestriction(argv: readonly string[], rules: Rules, read: ScriptReader): Restriction | null {
  const restrictive = { ...rules, prefixes: rules.prefixes.filter(rule => rule.decision !== 'allow') };
  const mentioned = restrictive.prefixes.filter(rule => mayRun(argv, rule.pattern[0] ?? []));
  if (mentioned.length === 0) return null;
  const every = everyCommand(argv, read);
  const found: Restriction[] = every.commands
    .flatMap(words => matchRules(restrictive, words))
    .flatMap(({ rule, prefix }) =>
      rule.decision === 'allow'
        ? []
        : [{ decision: rule.decision, prefix, justification: rule.justification, seen: true }],
    );
  const possible: Restriction[] = mentioned.flatMap(rule =>
    every.complete || rule.decision === 'allow'
      ? []
      : [
          {
            decision: rule.decision,
            prefix: rule.pattern.map(word => word.join('|')),
            justification: rule.justification,
            seen: false,
          },
        ],
  );
  const rank = (restriction: Restriction) => RULE_DECISIONS.indexOf(restriction.decision);
  return [...found, ...possible].reduce<Restriction | null>(
    (best, next) => (best === null || rank(next) > rank(best) ? next : best),
    null,
  );
}

function programsOf(rules: Rules, decisions: readonly string[]): string[] {
  return rules.prefixes.filter(rule => decisions.includes(rule.decision)).flatMap(rule => rule.pattern[0] ?? []);
}
