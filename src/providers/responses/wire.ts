/** The OpenAI Responses API. */
import type { ModelError } from '../../protocol/index.js';
import { arrayOf, objectOf } from '../json.js';
import type { Wire, WireBody } from '../wire.js';
import { encodeResponses } from './request.js';
import { responsesDecoder } from './stream.js';

export const responsesWire: Wire = {
  encode: encodeResponses,
  decode: context => responsesDecoder(context.request),
  amend: withoutForeignReasoning,
};

/**
 * Encrypted reasoning that another service or key produced can't be read: the request is sent again without any.
 * (Code `invalid_encrypted_content`, or words to that effect.)
 */
function withoutForeignReasoning(body: WireBody, error: ModelError): WireBody | null {
  if (error.http_status !== 400 || !/encrypted[_ ]content|encrypted reasoning/i.test(error.message)) return null;
  const input = arrayOf(body.input);
  const kept = input.filter(item => objectOf(item).type !== 'reasoning');
  return kept.length === input.length ? null : { ...body, input: kept };
}
