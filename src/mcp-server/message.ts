/** JSON-RPC messages as they stand on one line: told apart, and refused when they are none. */
import { isObject, messageOf, strictJson } from '../util/index.js';

export type RequestId = string | number;

export type JsonObject = { [key: string]: unknown };

export type Incoming =
  | { type: 'request'; id: RequestId; method: string; params: JsonObject }
  | { type: 'notification'; method: string; params: JsonObject }
  /** The answer to a request of ours, made well-formed: `error` has a code and a message, `result` is an object. */
  | { type: 'response'; id: RequestId; outcome: { result: JsonObject } | { error: { code: number; message: string } } }
  /** `reply`: it names no method, so that it may have been meant as the answer to a request of ours. */
  | { type: 'invalid'; id: RequestId | null; code: number; message: string; reply: boolean };

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/** Reads one line. Never throws. */
export function parseLine(line: string): Incoming {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const reason = messageOf(error);
    const message = `The line is not JSON: ${reason.slice(0, 200)}`;
    return { type: 'invalid', id: null, code: PARSE_ERROR, message, reply: false };
  }
  if (Array.isArray(value)) return invalid(null, 'Batches are not supported. Send one message per line.');
  if (!isObject(value)) return invalid(null, 'A message is a JSON object.');
  return toMessage(value);
}

function toMessage(value: JsonObject): Incoming {
  const id = isRequestId(value.id) ? value.id : null;
  if (value.jsonrpc !== '2.0') return invalid(id, '`jsonrpc` must be "2.0".');
  if (value.method === undefined && ('result' in value || 'error' in value)) return toResponse(value, id);
  if (value.method === undefined) return { ...invalid(id, '`method` must be a string.'), reply: true };
  if (typeof value.method !== 'string') return invalid(id, '`method` must be a string.');
  const params = value.params ?? {};
  if (!isObject(params)) return invalid(id, '`params` must be an object.');
  if (!('id' in value)) return { type: 'notification', method: value.method, params };
  if (id === null) return invalid(null, '`id` must be a string or an integer.');
  return { type: 'request', id, method: value.method, params: withoutNulls(params) };
}

/** `null` counts as absent where metadata is optional: some clients write out every field they know. */
function withoutNulls(params: JsonObject): JsonObject {
  const { _meta: meta, ...others } = params;
  if (meta === null) return others;
  if (!isObject(meta) || meta.progressToken !== null) return params;
  const { progressToken: _, ...rest } = meta;
  return { ...others, _meta: rest };
}

function toResponse(value: JsonObject, id: RequestId | null): Incoming {
  // A response is never answered, whatever is wrong with it; an id that is no id can't belong to a request of ours.
  if (id === null) return { type: 'notification', method: '', params: {} };
  if (!('error' in value)) {
    return { type: 'response', id, outcome: { result: isObject(value.result) ? value.result : {} } };
  }
  const error = isObject(value.error) ? value.error : {};
  const code = Number.isSafeInteger(error.code) ? Number(error.code) : INTERNAL_ERROR;
  const message = typeof error.message === 'string' ? error.message : 'no message was given';
  return { type: 'response', id, outcome: { error: { code, message } } };
}

function invalid(id: RequestId | null, message: string): Incoming & { type: 'invalid' } {
  return { type: 'invalid', id, code: INVALID_REQUEST, message, reply: false };
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** The text of an error response. `id` null where the request's id could not be read. */
export function errorResponse(id: RequestId | null, code: number, message: string, data?: unknown): string {
  return strictJson({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
}
