/** Ids and names of calls in a form that services take. */
import { createHash } from 'node:crypto';

/**
 * `short`: nine letters or digits (Mistral). `plain`: letters, digits, `_`, `-` (Anthropic). `free`: the same and `.`,
 * `:`. An id that does not fit becomes another one, always the same.
 */
export type IdForm = 'free' | 'plain' | 'short';

const FORMS: Readonly<Record<IdForm, RegExp>> = {
  free: /^[A-Za-z0-9_.:-]{1,64}$/,
  plain: /^[A-Za-z0-9_-]{1,64}$/,
  short: /^[A-Za-z0-9]{9}$/,
};

export function wireCallId(id: string, form: IdForm): string {
  if (FORMS[form].test(id)) return id;
  const digest = createHash('sha256')
    .update(id)
    .digest('base64')
    .replaceAll(/[^A-Za-z0-9]/g, '');
  return form === 'short' ? digest.slice(0, 9) : `call_${digest.slice(0, 24)}`;
}

/** A tool name; a model may have called one that does not exist and could not. */
export function wireName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return safe === '' ? 'unknown' : safe;
}
