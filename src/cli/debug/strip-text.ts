/** A rollout for a bug report: its course without its words. */
import type { Redactor } from '../../telemetry/index.js';

/** Members whose texts say how things went and never what was said. */
const KEPT = new Set(
  (
    'type kind role status phase reason source name tool server effort timestamp id session_id thread_id turn_id ' +
    'call_id forked_from_id process_id originator cli_version model model_provider approval_policy sandbox_policy ' +
    'history_mode thread_source codex_error_info access'
  ).split(' '),
);
/** Guesses about a command, made of its words. */
const LEFT_OUT = new Set(['parsed_cmd', 'parsed']);
/** A name or a word of few; longer texts are somebody's. */
const MAX_WORD = 100;
/** With texts: longer ones are cut. */
const MAX_TEXT = 64 * 1024;

export type StripOptions = {
  readonly redact: Redactor;
  /** Keep texts: prompts, answers, commands, outputs. Secrets go all the same. */
  readonly texts: boolean;
};

/** `rollout`: lines of JSON. Lines that are none are replaced by their length. */
export function stripRollout(rollout: string, options: StripOptions): string {
  const lines = rollout.split('\n').filter(line => line.trim() !== '');
  return lines.map(line => `${stripLine(line, options)}\n`).join('');
}

function stripLine(line: string, options: StripOptions): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // A damaged line may hold anything.
    return JSON.stringify({ type: 'damaged', characters: line.length });
  }
  return JSON.stringify(strip(value, '', options));
}

function strip(value: unknown, key: string, options: StripOptions): unknown {
  if (LEFT_OUT.has(key) && !options.texts) return '[left out]';
  if (typeof value === 'string') return stripText(value, key, options);
  if (Array.isArray(value)) return value.map(one => strip(one, key, options));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [nameOf(name, options), strip(one, name, options)]),
  );
}

/** Names of members may be paths, e.g. of changed files. */
function nameOf(name: string, { redact, texts }: StripOptions): string {
  return texts || /^\w{1,40}$/.test(name) ? redact(name) : `[${name.length} characters]`;
}

function stripText(value: string, key: string, { redact, texts }: StripOptions): string {
  if (texts)
    return redact(value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… [${value.length} characters]` : value);
  return KEPT.has(key) && value.length <= MAX_WORD ? redact(value) : `[${value.length} characters]`;
}
