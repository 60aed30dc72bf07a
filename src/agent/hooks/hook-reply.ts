/** What a handler said: its exit code and what it printed, read by the rules of its event. */
import type { CommandResult, HookEventName, HookSettings } from '../../protocol/index.js';
import type { Collected } from '../../sandbox/index.js';
import { truncateMiddle } from '../../util/index.js';

export type HookReply = {
  /** For the model. */
  readonly context: string | null;
  /** Why that which is about to happen (or, after a tool, has happened) is not right. */
  readonly block: string | null;
  /** Why the agent should end its turn: `"continue": false`. */
  readonly stop: string | null;
  /** For the person. */
  readonly warnings: readonly string[];
};

/** Bytes of one text that goes to the model. */
const MAX_TEXT = 16 * 1024;
const MAX_WARNING = 500;
const NO_REASON = 'no reason given';

/** Plain text on stdout is context after these. */
const TEXT_IS_CONTEXT: ReadonlySet<HookEventName> = new Set(['SessionStart', 'UserPromptSubmit']);
/** What these are about can't be prevented by a hook. */
const NOT_BLOCKED: ReadonlySet<HookEventName> = new Set(['SessionStart', 'PreCompact', 'SessionEnd']);

export function readReply(hook: HookSettings, { result, stdout, stderr }: Collected): HookReply {
  const problem = problemOf(hook, result, stderr);
  if (problem !== null) return warning(hook, problem);
  if (result.type !== 'exited') return reply({});
  if (result.exit_code === 2) return blocked(hook, stderr.toString('utf8'));
  const text = stdout.toString('utf8').trim();
  if (text.startsWith('{')) return readJson(hook, text);
  return reply({ context: TEXT_IS_CONTEXT.has(hook.event) ? text : '' });
}

/** What was wrong with the run itself; null when there is something to read, or the turn was interrupted. */
function problemOf(hook: HookSettings, result: CommandResult, stderr: Buffer): string | null {
  switch (result.type) {
    case 'exited':
      if (result.exit_code === 0 || result.exit_code === 2) return null;
      return `exited with code ${result.exit_code}${result.signal ? ` (signal ${result.signal})` : ''}${afterColon(stderr)}`;
    case 'timed_out':
      return `did not end within ${hook.timeout_ms / 1000} seconds and was ended`;
    case 'not_started':
      return `could not be started: ${result.message}`;
    case 'aborted':
      return null;
  }
}

function afterColon(stderr: Buffer): string {
  const text = stderr.toString('utf8').trim();
  return text === '' ? '' : `: ${text}`;
}

function blocked(hook: HookSettings, text: string): HookReply {
  const reason = text.trim();
  if (NOT_BLOCKED.has(hook.event)) return warning(hook, `asked to block (${reason || NO_REASON}), which it can't`);
  if (reason === '' && hook.event === 'Stop') return warning(hook, 'asked to go on without saying what to do');
  return reply({ block: reason || NO_REASON });
}

/** The members that mean something; anything of another type is passed over. */
type Fields = Readonly<Record<string, unknown>>;

function readJson(hook: HookSettings, text: string): HookReply {
  let value: Fields;
  try {
    value = JSON.parse(text) as Fields;
  } catch {
    return warning(hook, `printed something that begins like JSON and is none: ${text}`);
  }
  const specific = fields(value['hookSpecificOutput']);
  const about = specific['hookEventName'];
  if (about !== undefined && about !== hook.event) {
    return warning(hook, `answered with hookSpecificOutput of ${JSON.stringify(about)}`);
  }
  const warnings: string[] = [];
  const message = string(value['systemMessage']);
  if (message !== '') warnings.push(message);
  const context = string(specific['additionalContext']);
  if (value['continue'] === false) {
    const why = string(value['stopReason']) || string(value['reason']) || NO_REASON;
    if (hook.event === 'PreToolUse') return join(reply({ context, warnings }), blocked(hook, why));
    if (hook.event === 'PreCompact' || hook.event === 'SessionEnd')
      return join(reply({ warnings }), blocked(hook, why));
    return reply({ context, stop: why, warnings });
  }
  const decision = decisionOf(hook, value, specific);
  switch (decision.type) {
    case 'none':
      return reply({ context, warnings });
    case 'block':
      return join(reply({ context, warnings }), blocked(hook, decision.reason));
    case 'unknown':
      return join(reply({ context, warnings }), warning(hook, decision.problem));
  }
}

type Decision = { type: 'none' } | { type: 'block'; reason: string } | { type: 'unknown'; problem: string };

/** An approval changes nothing: the approval policy decides all the same. */
function decisionOf(hook: HookSettings, value: Fields, specific: Fields): Decision {
  const [decision, reason] =
    hook.event === 'PreToolUse' && specific['permissionDecision'] !== undefined
      ? [specific['permissionDecision'], string(specific['permissionDecisionReason'])]
      : [value['decision'], string(value['reason'])];
  if (specific['updatedInput'] !== undefined) {
    return { type: 'unknown', problem: 'gave an updatedInput, which is not supported: the call was left as it is' };
  }
  switch (decision) {
    case undefined:
    case null:
    case 'approve':
    case 'allow':
      return { type: 'none' };
    case 'block':
    case 'deny':
      return { type: 'block', reason };
    default:
      return { type: 'unknown', problem: `decided ${JSON.stringify(decision)}, which is not supported here` };
  }
}

function reply(parts: { context?: string; block?: string; stop?: string; warnings?: readonly string[] }): HookReply {
  const text = (one: string | undefined) => (one ? short(one, MAX_TEXT) : null);
  return {
    context: text(parts.context),
    block: text(parts.block),
    stop: text(parts.stop),
    warnings: (parts.warnings ?? []).map(one => short(one, MAX_WARNING)),
  };
}

function warning(hook: HookSettings, problem: string): HookReply {
  return reply({
    warnings: [`The ${hook.event} hook \`${hook.command}\` of ${hook.source} ${short(problem, MAX_WARNING)}`],
  });
}

function join(a: HookReply, b: HookReply): HookReply {
  return { context: a.context ?? b.context, block: b.block, stop: b.stop, warnings: [...a.warnings, ...b.warnings] };
}

function short(text: string, bytes: number): string {
  return truncateMiddle(text, bytes, removed => `…${removed} bytes left out…`).text;
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function string(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
