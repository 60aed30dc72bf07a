/** The last gate before anything leaves: no secret, no prompt unless allowed, nothing endless. */
import type { Attributes } from '../util/index.js';
import { REDACTED, type Redactor } from './redact.js';

const MAX_TEXT = 1024;
const MAX_PROMPT = 64 * 1024;

export type CleanAttributes = { [key: string]: string | number | boolean | string[] };

export type CleanOptions = {
  readonly redact: Redactor;
  /** `log_user_prompt` */
  readonly prompts: boolean;
};

export function cleanAttributes(attributes: Attributes, { redact, prompts }: CleanOptions): CleanAttributes {
  const clean: CleanAttributes = {};
  // Runs some hundred times in a turn: no array of pairs is made.
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined || !Object.hasOwn(attributes, key)) continue;
    if (key === 'prompt') clean[key] = prompts ? cut(redact(String(value)), MAX_PROMPT) : REDACTED;
    else if (typeof value === 'string') clean[key] = cut(redact(value), MAX_TEXT);
    else if (typeof value === 'object') clean[key] = value.map(one => cut(redact(one), MAX_TEXT));
    else clean[key] = value;
  }
  return clean;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
