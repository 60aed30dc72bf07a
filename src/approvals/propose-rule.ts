/** The rule that a person may save instead of answering the same question again. */
import type { Action } from '../protocol/index.js';
import { isTooBroad } from './rules/broad-prefix.js';
import { isAllowedByRule } from './rules/judge-by-rules.js';
import { type Rules, withAllowRule } from './rules/rules.js';
import type { CommandReading } from './shell/read-command.js';
import { isSafeCommand } from './shell/safe-commands.js';

/** A longer rule would not be read by the person who saves it. Characters. */
const MAX_LENGTH = 1000;

/**
 * The prefix the model suggests if it would settle the question and is not too broad, else the first command that
 * caused the question, else null. A script with expansions gets none, since what it runs is not in its text, and one with
 * a here-document gets none, since nobody writes the same one twice.
 */
export function proposeRule(
  action: Action & { type: 'command' },
  rules: Rules,
  { plain, commands }: CommandReading,
): string[] | null {
  const { prefix_rule } = action;
  if (prefix_rule !== null && isAcceptable(prefix_rule)) {
    const extended = withAllowRule(rules, prefix_rule);
    if (commands.every(words => isAllowedByRule(extended, words) || isSafeCommand(words))) return [...prefix_rule];
  }
  if (!plain && action.argv.some(word => /[$`]|<</.test(word))) return null;
  const unruled = commands.filter(words => !isAllowedByRule(rules, words));
  const cause = unruled.find(words => !isSafeCommand(words)) ?? unruled[0];
  const prefix = cause?.map(word => word.text);
  return prefix !== undefined && isAcceptable(prefix) ? prefix : null;
}

function isAcceptable(prefix: readonly string[]): boolean {
  return !isTooBroad(prefix) && prefix.join(' ').length <= MAX_LENGTH;
}
