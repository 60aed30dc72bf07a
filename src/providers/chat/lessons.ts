/** What an error of a chat-completions service teaches: which optional part of the request it does not take. */
import type { ModelError } from '../../protocol/index.js';
import type { WireContext } from '../wire.js';

/** Fields that may be left out without changing what the model is asked. */
const OPTIONAL_FIELDS = [
  'stream_options',
  'parallel_tool_calls',
  'prompt_cache_key',
  'tool_stream',
  'store',
  'reasoning_split',
];
const REFUSAL =
  /unsupported|unknown|unrecogni[sz]ed|unexpected|not (?:supported|permitted|allowed|recogni[sz]ed)|extra (?:inputs?|fields?)|no such|forbidden/i;

export function chatLesson(error: ModelError, context: WireContext): string | null {
  const lesson = learn(error, context);
  return lesson === null || context.lessons.has(lesson) ? null : lesson;
}

function learn(error: ModelError, context: WireContext): string | null {
  const { message, http_status: status } = error;
  if (status === 402) {
    const afford = /can only afford (\d+)/i.exec(message)?.[1];
    return afford === undefined || Number(afford) < 1 ? null : onceOnly(`once:afford:${afford}`, context);
  }
  if (status !== 400 && status !== 422) return null;
  if (/tool_use_failed|failed to call a function/i.test(message)) return 'once:cooler';
  if (/reasoning_content/.test(message)) {
    if (/missing|must be (?:passed|provided|included)|required/i.test(message)) return 'empty-reasoning';
    if (REFUSAL.test(message)) return 'without-reasoning';
  }
  if (/tool.?call.?id/i.test(message) && /length of 9/i.test(message)) return 'short-ids';
  if (/(?:role ['"`]?user['"`]? after (?:role )?['"`]?tool|last role user)/i.test(message)) return 'answer-after-tool';
  if (/use ['"`]?max_completion_tokens/i.test(message)) return 'max_completion_tokens';
  if (context.request.output_schema !== null && /response_format|json_schema|grammar/i.test(message))
    return 'schema-in-words';
  if (!REFUSAL.test(message)) return null;
  if (/max_completion_tokens/.test(message)) return 'max_tokens';
  const field = OPTIONAL_FIELDS.find(name => new RegExp(`\\b${name}\\b`).test(message));
  return field === undefined ? null : `without:${field}`;
}

/** A second, lower price would go on for ever. */
function onceOnly(lesson: string, context: WireContext): string | null {
  return [...context.lessons].some(known => known.startsWith('once:afford:')) ? null : lesson;
}
