/** Everything that can go wrong with a model request, as one `ModelError`. */
import type { ModelError, TurnErrorKind } from '../protocol/index.js';
import { hasCode, messageOf } from '../util/index.js';
import { shownUrl } from './endpoint.js';
import { type ErrorBody, readErrorBody, redact } from './error-text.js';
import { LONGEST_WAIT_MS, retryAfterHeader, retryAfterText } from './retry.js';

/** The answer to an interrupt. */
export const ABORTED: ModelError = { message: 'The request was interrupted.', kind: 'other', retryable: false };

/** Thrown inside this room for what a person must put right in the configuration. */
export class SettingsError extends Error {
  readonly kind: TurnErrorKind;
  constructor(message: string, kind: TurnErrorKind = 'configuration', options?: ErrorOptions) {
    super(message, options);
    this.name = 'SettingsError';
    this.kind = kind;
  }
}

/** Thrown by the transport when nothing arrived for `ms`. */
export class IdleError extends Error {
  constructor(ms: number) {
    super(`nothing arrived for ${ms} ms (stream_idle_timeout_ms)`);
    this.name = 'IdleError';
  }
}

export type HttpFailure = {
  status: number;
  statusText: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  url: URL;
  secrets: readonly string[];
  /** What the reader can do about a refused key, e.g. "check OPENAI_API_KEY". */
  keyHint: string;
};

/** An HTTP status other than 2xx. */
export function httpError(failure: HttpFailure): ModelError {
  const { status, headers, url, secrets } = failure;
  const body = readErrorBody(failure.body);
  const verdict = classify(body, status);
  const wait = retryAfterHeader(headers) ?? waitOf(body);
  const statusLine = `${status}${failure.statusText === '' ? '' : ` ${failure.statusText}`}`;
  const text = body.message === '' ? '' : `: ${redact(body.message, secrets)}`;
  const hint = hintFor(status, headers, failure.keyHint, url);
  return withWait(
    { message: `${statusLine} from ${shownUrl(url)}${text}${hint}`, http_status: status, ...verdict },
    wait,
  );
}

/** An error that a provider reported inside a stream. `what` says in which event, for errors without words. */
export function streamedError(body: ErrorBody, what: string): ModelError {
  const verdict = classify(body, body.status);
  const message = body.message === '' ? `The provider reported an error (${body.codes[0] ?? what}).` : body.message;
  return withWait(
    { message, ...(body.status === undefined ? {} : { http_status: body.status }), ...verdict },
    waitOf(body),
  );
}

/** The stream broke after it had begun: the whole request may be sent again. */
export function brokenStream(message: string): ModelError {
  return { message, kind: 'stream_disconnected', retryable: true };
}

/** Whatever the transport threw before headers arrived. */
export function transportError(error: unknown, url: URL): ModelError {
  if (error instanceof SettingsError) return { message: error.message, kind: error.kind, retryable: false };
  const reason = reasonOf(error);
  const message = `No answer from ${shownUrl(url)}: ${reason}`;
  if (isCertificateError(error)) {
    const hint = '. If a company proxy or an own CA is in use, name its certificate file in SSL_CERT_FILE';
    return { message: message + hint, kind: 'connection_failed', retryable: false };
  }
  if (hasCode(error, 'ERR_INVALID_CHAR', 'ERR_INVALID_HTTP_TOKEN')) {
    const hint = 'a key or header value holds characters that HTTP does not allow; check the key and http_headers';
    return { message: `No request was sent to ${shownUrl(url)}: ${hint}`, kind: 'configuration', retryable: false };
  }
  return { message, kind: 'connection_failed', retryable: true };
}

/** The words of a Node network error, looking into those that gather several. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (hasCode(error, 'ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE')) return `connection closed (${messageOf(error)})`;
  const message = messageOf(error);
  if (message !== '') return message;
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown network error';
}

type Verdict = { kind: TurnErrorKind; retryable: boolean };

const final = (kind: TurnErrorKind): Verdict => ({ kind, retryable: false });
const again = (kind: TurnErrorKind): Verdict => ({ kind, retryable: true });

const WINDOW_CODES = ['context_length_exceeded', 'request_too_large', 'model_context_window_exceeded'];
/** The same in the words of OpenAI, Anthropic, vLLM, llama.cpp, Google, DashScope, Moonshot, Z.AI and xAI. */
const WINDOW_TEXT = new RegExp(
  [
    'prompt is too long',
    'maximum (?:context|prompt) length',
    'context (?:window|length|size|limit)[^.]{0,40}(?:exceed|too)',
    'exceed[^.]{0,60}context (?:window|length|size|limit)',
    'input (?:is )?too long',
    'input token count[^.]{0,40}exceed',
    'range of input length',
    'exceeded model token limit',
    'prompt exceeds max length',
    'too many tokens in',
  ].join('|'),
  'i',
);
/** No money, no plan: waiting for seconds does not help. 1113 and 1308 are Z.AI's, Arrearage is DashScope's. */
const QUOTA_CODES = [
  'insufficient_quota',
  'usage_limit_reached',
  'usage_not_included',
  'exceeded_current_quota_error',
  'insufficient_balance',
  'billing_error',
  'billing_hard_limit_reached',
  'arrearage',
  '1113',
  '1308',
];
const QUOTA_TEXT = /insufficient (?:balance|credit|funds|quota)|credit balance is too low|exceeded your current quota/i;
const OVERLOAD_CODES = [
  'server_is_overloaded',
  'slow_down',
  'overloaded_error',
  'engine_overloaded_error',
  'unavailable',
];
const RATE_CODES = [
  'rate_limit_exceeded',
  'rate_limit_error',
  'rate_limit_reached_error',
  'resource_exhausted',
  '1302',
];
const KEY_CODES = [
  'authentication_error',
  'invalid_api_key',
  'permission_error',
  'permission_denied',
  'unauthenticated',
];
const REQUEST_CODES = ['invalid_request_error', 'invalid_prompt', 'bad_request', 'not_found_error', 'model_not_found'];

/** What an error means. Codes inside the body are more exact than the status. */
function classify(body: ErrorBody, status: number | undefined): Verdict {
  const has = (codes: readonly string[]) => body.codes.some(code => codes.includes(code));
  if (has(WINDOW_CODES) || (!isServerFault(status) && WINDOW_TEXT.test(body.message)))
    return final('context_window_exceeded');
  if (has(QUOTA_CODES) || status === 402) return final('usage_limit_exceeded');
  if (status !== undefined) return classifyStatus(status, body, has(OVERLOAD_CODES));
  if (has(OVERLOAD_CODES)) return again('server_overloaded');
  if (has(RATE_CODES)) return again('rate_limited');
  if (has(KEY_CODES)) return final('unauthorized');
  if (has(REQUEST_CODES)) return final('bad_request');
  if (has(['server_error', 'api_error', 'internal_error'])) return again('internal_server_error');
  return again('stream_disconnected');
}

function classifyStatus(status: number, body: ErrorBody, overloaded: boolean): Verdict {
  if (status === 401 || status === 403) return final('unauthorized');
  if (status === 408 || status === 425) return again('connection_failed');
  if (status === 409) return again('other');
  if (status === 413) return final('context_window_exceeded');
  if (status === 429) {
    // Google words every limit as a quota; a delay in the body tells the ones that pass.
    const quota = QUOTA_TEXT.test(body.message) && body.retry_after_ms === undefined;
    return quota ? final('usage_limit_exceeded') : again('rate_limited');
  }
  if (status >= 500)
    return again(overloaded || status === 503 || status === 529 ? 'server_overloaded' : 'internal_server_error');
  if (status >= 400) return final('bad_request');
  return final('configuration');
}

function isServerFault(status: number | undefined): boolean {
  return status !== undefined && status >= 500;
}

function waitOf(body: ErrorBody): number | undefined {
  return body.retry_after_ms ?? retryAfterText(body.message);
}

/** Adds what the provider asked to wait; a wait that no turn can take makes the error final. */
function withWait(error: ModelError, wait: number | undefined): ModelError {
  if (wait === undefined) return error;
  if (!error.retryable) {
    // A plan that is used up: when it is renewed is worth knowing.
    const again = error.kind === 'usage_limit_exceeded' ? ` (again in ${Math.ceil(wait / 60_000)} minutes)` : '';
    return { ...error, message: error.message + again };
  }
  if (wait <= LONGEST_WAIT_MS) return { ...error, retry_after_ms: wait };
  const minutes = Math.ceil(wait / 60_000);
  const message = `${error.message} (the provider asks to wait ${minutes} minutes, longer than a turn waits; try again then)`;
  return { ...error, message, retry_after_ms: wait, retryable: false };
}

function hintFor(status: number, headers: Readonly<Record<string, string>>, keyHint: string, url: URL): string {
  if (status === 401 && keyHint !== '') return ` (${keyHint})`;
  if (status === 404) return ' (check base_url and the model id)';
  if (status < 300 || status >= 400) return '';
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, url.href)) return ' (a redirect; check base_url)';
  return ` (it redirects to ${shownUrl(new URL(location, url))}; set base_url to where the API is)`;
}

function isCertificateError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isCertificateError);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^(?:CERT_|ERR_TLS_CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:VERIFY|GET))/.test(code) ||
    isCertificateError(error.cause)
  );
}
