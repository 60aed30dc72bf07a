/** The provider's own words in an error body, whatever its form, and their removal of secrets. */
import { isObject } from '../util/index.js';
import { arrayOf, numberOf, objectOf, parseJson, textOf } from './json.js';
import { durationText } from './retry.js';

/** Characters of a provider's text that are passed on. */
const TEXT_LIMIT = 2000;

/** What an error body says. `message` is "" when it says nothing. */
export type ErrorBody = {
  message: string;
  /** All codes and types it names, lower case: `code`, `type`, `status` of the body and of its inner error. */
  codes: string[];
  /** A numeric code in the range of HTTP statuses, as gateways put it into streams. */
  status?: number;
  retry_after_ms?: number;
};

/** Reads the text of a body: JSON in any usual form, HTML (its title) or plain text. */
export function readErrorBody(text: string): ErrorBody {
  const parsed = parseJson(text);
  if (parsed !== undefined) return errorOf(parsed);
  const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1];
  return { message: limited(title ?? (/^\s*</.test(text) ? '' : text)), codes: [] };
}

/** As `readErrorBody`, from a value that is already parsed, e.g. `{error: {message, code}}`, `{detail}`, an array. */
export function errorOf(value: unknown): ErrorBody {
  if (typeof value === 'string') return { message: limited(value), codes: [] };
  if (Array.isArray(value)) return errorOf(value[0] ?? '');
  if (!isObject(value)) return { message: value == null ? '' : limited(JSON.stringify(value) ?? ''), codes: [] };
  const outer = {
    message: messageOf(value),
    codes: codesOf(value),
    status: statusOf(value),
    retry: retryDelayOf(value),
  };
  const inner = value.error === undefined || value.error === null ? null : errorOf(value.error);
  const status = inner?.status ?? outer.status;
  const retry = inner?.retry_after_ms ?? outer.retry;
  return {
    message: inner?.message || outer.message || (inner ? '' : limited(JSON.stringify(value))),
    codes: [...(inner?.codes ?? []), ...outer.codes],
    ...(status === undefined ? {} : { status }),
    ...(retry === undefined ? {} : { retry_after_ms: retry }),
  };
}

/** Replaces every secret by `[redacted]`. Very short values are left: they would hit ordinary words. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 6) clean = clean.replaceAll(secret, '[redacted]');
  return clean;
}

function messageOf(value: Readonly<Record<string, unknown>>): string {
  for (const key of ['message', 'detail', 'error_description', 'msg', 'title', 'reason']) {
    const found = value[key];
    if (typeof found === 'string' && found !== '') return limited(withUpstream(found, value));
    // FastAPI: a list of {loc, msg}.
    if (Array.isArray(found) || isObject(found)) return limited(detailText(found));
  }
  return '';
}

/** OpenRouter hides the words of the model's provider in `metadata.raw`. */
function withUpstream(message: string, value: Readonly<Record<string, unknown>>): string {
  const raw = objectOf(value.metadata).raw;
  if (typeof raw !== 'string' || raw === '') return message;
  const upstream = readErrorBody(raw).message;
  return upstream === '' || message.includes(upstream) ? message : `${message}: ${upstream}`;
}

function detailText(detail: unknown): string {
  const texts = arrayOf(detail).map(entry => {
    const { loc, msg } = objectOf(entry);
    return typeof msg === 'string' ? `${Array.isArray(loc) ? `${loc.join('.')}: ` : ''}${msg}` : '';
  });
  const known = texts.filter(text => text !== '');
  return known.length > 0 ? known.join('; ') : JSON.stringify(detail);
}

function codesOf(value: Readonly<Record<string, unknown>>): string[] {
  return [value.code, value.type, value.status]
    .filter(code => typeof code === 'string' || typeof code === 'number')
    .map(code => String(code).toLowerCase());
}

function statusOf(value: Readonly<Record<string, unknown>>): number | undefined {
  for (const candidate of [value.code, value.status, value.status_code]) {
    const code = numberOf(candidate) ?? (/^[45]\d\d$/.test(textOf(candidate)) ? Number(candidate) : undefined);
    if (code !== undefined && code >= 400 && code < 600) return code;
  }
  return undefined;
}

/** Google: `details: [{"@type": "…RetryInfo", retryDelay: "17s"}]`. OpenAI: `resets_in_seconds`, `resets_at` (a time). */
function retryDelayOf(value: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = numberOf(value.resets_in_seconds);
  if (seconds !== undefined) return seconds * 1000;
  const time = numberOf(value.resets_at);
  if (time !== undefined) return Math.max(0, time * 1000 - Date.now());
  for (const detail of arrayOf(value.details)) {
    const delay = durationText(textOf(objectOf(detail).retryDelay));
    if (delay !== undefined) return delay;
  }
  return undefined;
}

function limited(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= TEXT_LIMIT ? trimmed : `${trimmed.slice(0, TEXT_LIMIT)}…`;
}
