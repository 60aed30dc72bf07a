/** The Chat Completions API, as OpenAI and some dozens of others speak it. */
import type { Wire } from '../wire.js';
import { chatLesson } from './lessons.js';
import { encodeChat } from './request.js';
import { chatDecoder } from './stream.js';

export const chatWire: Wire = {
  encode: encodeChat,
  decode: context => chatDecoder(context.request),
  lesson: chatLesson,
};
