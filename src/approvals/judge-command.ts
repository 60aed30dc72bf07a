/** The verdict on one command line: rules first, then escalation, forced deletion, and the policy. */
import type { Action, Verdict } from '../protocol/index.js';
import { commandKey } from './grants.js';
import type { JudgeContext } from './judge-context.js';
import { mayAsk } from './may-ask.js';
import { proposeRule } from './propose-rule.js';
import { escalationRefused, forbiddenByRule, forcedRmRefused, promptedByRule, promptRefused } from './reasons.js';
import { isAllowedByRule, judgeByRules } from './rules/judge-by-rules.js';
import { everyCommand, mayRun } from './shell/every-command.js';
import { isForcedRm, mayForce } from './shell/forced-rm.js';
import { joinWords } from './shell/join-words.js';
import { type CommandReading, readCommand, type ScriptReader, shellScript } from './shell/read-command.js';
import { isSafeCommand } from './shell/safe-commands.js';

type CommandAction = Action & { type: 'command' };
type Context = Omit<JudgeContext, 'grammar'>;

/** `read` is only called when the verdict depends on it. */
export function judgeCommand(action: CommandAction, context: Context, read: ScriptReader): Verdict {
  const { policy, rules, userShell } = context;
  const sandboxed = context.sandbox.type !== 'danger-full-access';
  const shown = shorten(shellScript(action.argv, userShell) ?? joinWords(action.argv));
  const ruled = judgeByRules(action.argv, rules, read, userShell);

  if (ruled.restriction?.decision === 'forbidden') {
    return { type: 'refuse', reason: forbiddenByRule(shown, ruled.restriction) };
  }
  if (ruled.restriction === null && ruled.allowsAll) return { type: 'run', sandboxed: false };
  if (action.escalated && refusesEscalation(context)) return { type: 'refuse', reason: escalationRefused(context) };

  const runsSandboxed = sandboxed && !action.escalated;
  if (ruled.restriction !== null) {
    if (!mayAsk(policy, 'rules')) return { type: 'refuse', reason: promptRefused(context, shown, ruled.restriction) };
    const reason = joinReasons(promptedByRule(shown, ruled.restriction), action.justification);
    // The author of the rule wants the question each time: nothing is remembered.
    return { type: 'ask', sandboxed: runsSandboxed, reason, proposed_rule: null, keys: [] };
  }

  const ask = (reason: string | null, proposed_rule: string[] | null): Verdict => ({
    type: 'ask',
    sandboxed: runsSandboxed,
    reason,
    proposed_rule,
    keys: [commandKey(action.argv, action.cwd, runsSandboxed)],
  });
  const forced = findForcedRm(ruled.unruled, read);
  if (forced !== 'none') {
    if (!mayAsk(policy, 'sandbox_approval')) {
      return { type: 'refuse', reason: forcedRmRefused(context, shown, forced === 'seen') };
    }
    return ask(joinReasons('It deletes files by force (rm -f).', action.justification), null);
  }
  if (policy === 'untrusted') {
    const reading = readCommand(action.argv, read, userShell);
    if (isSafe(reading, context)) return { type: 'run', sandboxed };
  } else if (!action.escalated || !sandboxed) {
    return { type: 'run', sandboxed };
  }
  return ask(action.justification, proposeRule(action, rules, readCommand(action.argv, read, userShell)));
}

/** Whether the policy leaves no question open that an escalated call could be answered with. */
function refusesEscalation({ policy, sandbox }: Context): boolean {
  if (policy === 'untrusted' || policy === 'never') return true;
  return sandbox.type !== 'danger-full-access' && !mayAsk(policy, 'sandbox_approval');
}

/** `possible`: a command could not be read to its end and mentions `rm`. */
function findForcedRm(commands: readonly (readonly string[])[], read: ScriptReader): 'none' | 'possible' | 'seen' {
  let found: 'none' | 'possible' = 'none';
  for (const argv of commands) {
    if (!mayRun(argv, ['rm']) || !mayForce(argv)) continue;
    const every = everyCommand(argv, read);
    if (every.commands.some(isForcedRm)) return 'seen';
    if (!every.complete) found = 'possible';
  }
  return found;
}

/** Every command is on the list or allowed by a rule; an opaque one is neither. */
function isSafe(reading: CommandReading, { rules }: Context): boolean {
  return reading.plain && reading.commands.every(words => isSafeCommand(words) || isAllowedByRule(rules, words));
}

function joinReasons(first: string, second: string | null): string {
  return second === null ? first : `${first} ${second}`;
}

/** A refusal names the command; the model knows the rest of a long one. */
const MAX_SHOWN = 300;

function shorten(command: string): string {
  return command.length <= MAX_SHOWN ? command : `${command.slice(0, MAX_SHOWN)}…`;
}
