import type { TurnError } from '../protocol/index.js';
import type { JsonObject } from './message.js';

/** The cause of a failed turn in the words older clients know: a name, or a name with the HTTP status. */
export function codexErrorInfo(error: TurnError): string | JsonObject {
  const status = { http_status_code: error.http_status ?? null };
  switch (error.kind) {
    case 'connection_failed':
      return { http_connection_failed: status };
    case 'stream_disconnected':
      return { response_stream_disconnected: status };
    case 'too_many_attempts':
    case 'rate_limited':
      return { response_too_many_failed_attempts: status };
    case 'configuration':
      return 'other';
    case 'context_window_exceeded':
    case 'usage_limit_exceeded':
    case 'server_overloaded':
    case 'unauthorized':
    case 'bad_request':
    case 'internal_server_error':
    case 'sandbox_error':
    case 'other':
      return error.kind;
  }
}
