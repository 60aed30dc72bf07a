/** The OpenAI Responses API. */
import type { ModelError } from '../../protocol/index.js';
import type { Wire, WireContext } from '../wire.js';
import { encodeResponses } from './request.js';
import { responsesDecoder } from './stream.js';

export const responsesWire: Wire = {
  encode: encodeResponses,
  decode: context => responsesDecoder(context.request),
  lesson: foreignReasoning,
};

/**
 * Encrypted reasoning that another service or key produced can't be read: the request is sent again without any.
 * (Code `invalid_encrypted_content`, or words to that effect.)
 */
function foreignReasoning(error: ModelError, { request, lessons }: WireContext): string | null {
  if (error.http_status !== 400 || !/encrypted[_ ]content|encrypted reasoning/i.test(error.message)) return null;
  if (lessons.has('once:reasoning') || !request.input.some(item => item.type === 'reasoning')) return null;
  return 'once:reasoning';
}
