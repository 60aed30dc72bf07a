/** Rules: which commands always run, always need a person, or never run. */
import { basename, isAbsolute } from 'node:path';
import { knownName } from '../shell/read-command.js';

export const RULE_DECISIONS = ['allow', 'prompt', 'forbidden'] as const;
/** From the mildest to the strictest; of several the strictest counts. */
export type RuleDecision = (typeof RULE_DECISIONS)[number];

export type PrefixRule = {
  /** One entry per word, each the words accepted there. Never empty. */
  readonly pattern: readonly (readonly string[])[];
  readonly decision: RuleDecision;
  readonly justification: string | null;
};

export const NETWORK_PROTOCOLS = ['http', 'https', 'socks5_tcp', 'socks5_udp'] as const;

export type NetworkRule = {
  /** In lower case; no wildcards. */
  readonly host: string;
  readonly protocol: (typeof NETWORK_PROTOCOLS)[number];
  readonly decision: RuleDecision;
  readonly justification: string | null;
};

export type Rules = {
  readonly prefixes: readonly PrefixRule[];
  /** Program name -> the absolute paths that a rule for that name covers. */
  readonly hostExecutables: ReadonlyMap<string, readonly string[]>;
  readonly network: readonly NetworkRule[];
};

export const NO_RULES: Rules = { prefixes: [], hostExecutables: new Map(), network: [] };

export function mergeRules(all: readonly Rules[]): Rules {
  const hostExecutables = new Map<string, readonly string[]>();
  for (const [name, paths] of all.flatMap(rules => [...rules.hostExecutables])) {
    hostExecutables.set(name, [...(hostExecutables.get(name) ?? []), ...paths]);
  }
  return {
    prefixes: all.flatMap(rules => rules.prefixes),
    hostExecutables,
    network: all.flatMap(rules => rules.network),
  };
}

/** The rules with one more: commands that begin with `prefix` are allowed. */
export function withAllowRule(rules: Rules, prefix: readonly string[]): Rules {
  const rule: PrefixRule = { pattern: prefix.map(word => [word]), decision: 'allow', justification: null };
  return { ...rules, prefixes: [...rules.prefixes, rule] };
}

/** What is left of a file with a fault: nothing of it may allow anything, its restrictions hold. */
export function restrictionsOf(rules: Rules): Rules {
  return {
    prefixes: rules.prefixes.filter(rule => rule.decision !== 'allow'),
    hostExecutables: rules.hostExecutables,
    network: rules.network.filter(rule => rule.decision !== 'allow'),
  };
}

export type RuleMatch = {
  readonly rule: PrefixRule;
  /** The words of the command that matched, the program as the rule names it. */
  readonly prefix: readonly string[];
  /** The path that stood for the program's name, if one did. */
  readonly resolvedProgram: string | null;
};

/** The rules that `words` begin with, in the order of the files. Null in `words` matches nothing. */
export function matchRules(rules: Rules, words: readonly (string | null)[]): RuleMatch[] {
  return rules.prefixes.flatMap(rule => {
    const match = matchRule(rules, rule, words);
    return match === null ? [] : [match];
  });
}

/**
 * A path stands for its last part: for a restriction always, for permission only in a system folder or as
 * `host_executable` lists it, since a command of the agent may put any file of that name elsewhere.
 */
export function matchRule(
  rules: Pick<Rules, 'hostExecutables'>,
  rule: PrefixRule,
  words: readonly (string | null)[],
): RuleMatch | null {
  const [program] = words;
  const [programs, ...rest] = rule.pattern;
  if (program == null || programs === undefined || words.length < rule.pattern.length) return null;
  const rests = rest.map((alternatives, i) => alternatives.find(word => word === words[i + 1]));
  if (!isComplete(rests)) return null;
  if (programs.includes(program)) return { rule, prefix: [program, ...rests], resolvedProgram: null };
  const name = basename(program);
  if (name === program || !programs.includes(name)) return null;
  if (rule.decision === 'allow' && !standsFor(rules, program, name)) return null;
  return { rule, prefix: [name, ...rests], resolvedProgram: program };
}

function isComplete(words: readonly (string | undefined)[]): words is readonly string[] {
  return !words.includes(undefined);
}

function standsFor(rules: Pick<Rules, 'hostExecutables'>, program: string, name: string): boolean {
  const listed = rules.hostExecutables.get(name);
  return isAbsolute(program) && (listed === undefined ? knownName(program) === name : listed.includes(program));
}

/** The strictest decision, or null when nothing matched. */
export function strictest(matches: readonly RuleMatch[]): RuleMatch | null {
  const rank = (match: RuleMatch) => RULE_DECISIONS.indexOf(match.rule.decision);
  return matches.reduce<RuleMatch | null>(
    (best, match) => (best === null || rank(match) > rank(best) ? match : best),
    null,
  );
}
