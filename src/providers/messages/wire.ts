/** The Anthropic Messages API, and its copies at other services. */
import type { ModelError } from '../../protocol/index.js';
import type { Wire, WireContext } from '../wire.js';
import { encodeMessages } from './request.js';
import { messagesDecoder } from './stream.js';

export const messagesWire: Wire = {
  encode: encodeMessages,
  decode: messagesDecoder,
  lesson(error, context) {
    const lesson = learn(error, context);
    return lesson === null || context.lessons.has(lesson) ? null : lesson;
  },
};

function learn({ message, http_status: status }: ModelError, context: WireContext): string | null {
  if (status !== 400 && status !== 422) return null;
  // "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens"
  const limit = /max_tokens: \d+ > (\d+)/.exec(message)?.[1];
  if (limit !== undefined) return `max-tokens:${limit}`;
  if (/thinking\.[a-z]*\.?display|\bdisplay\b/.test(message)) return 'without-display';
  if (
    context.request.output_schema !== null &&
    /output_config|output_format|additionalProperties|json_schema/.test(message)
  ) {
    return 'schema-in-words';
  }
  // Signatures of another account or model can't be checked; the thoughts are then left out.
  if (/signature/i.test(message) && /thinking/i.test(message)) return 'once:thoughts';
  return null;
}
