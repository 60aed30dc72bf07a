/** What an error of the SDK or of the network means, in words for models and people. */
import { messageOf } from '../util/index.js';
import { LOGIN_WANTED } from './login-wanted.js';
import { LoginNeededError } from './oauth/login-needed.js';
import type * as Sdk from './sdk.js';

export type Failure = {
  readonly message: string;
  /** The connection is of no use any more: the next use opens a new one. */
  readonly lost: boolean;
  /** The server surely did nothing, so the same call may be made again over a new connection. */
  readonly repeatable: boolean;
};

export type FailureFacts = {
  readonly sdk: typeof Sdk;
  /** The server's name in the configuration. */
  readonly name: string;
  /** How its process ended; null while it runs, and for servers over HTTP. */
  readonly end: string | null;
};

/** An HTTP server forgot the session, for instance because it was started anew. */
const SESSION_GONE = 404;

export function explainFailure(error: unknown, { sdk, name, end }: FailureFacts): Failure {
  const plain = (message: string): Failure => ({ message, lost: false, repeatable: false });
  if (end !== null) return { message: `${end}`, lost: true, repeatable: false };
  if (error instanceof LoginNeededError || error instanceof sdk.UnauthorizedError) return plain(loginHint(name));
  if (error instanceof sdk.InsufficientScopeError) {
    const scopes = error.requiredScope ? ` --scopes ${error.requiredScope.split(' ').join(',')}` : '';
    return plain(`it wants wider permissions; \`interpreter mcp login ${name}${scopes}\` asks for them`);
  }
  if (error instanceof sdk.SdkHttpError) return httpFailure(error.status, error.message, name);
  if (error instanceof sdk.ProtocolError) return plain(`error ${error.code}: ${error.message}`);
  if (error instanceof sdk.SdkError) {
    const lost = error.code === sdk.SdkErrorCode.ConnectionClosed || error.code === sdk.SdkErrorCode.NotConnected;
    return { message: error.message, lost, repeatable: false };
  }
  return networkFailure(error);
}

function httpFailure(status: number, message: string, name: string): Failure {
  if (status === 401) return { message: loginHint(name), lost: false, repeatable: false };
  const gone = status === SESSION_GONE;
  return { message: `HTTP status ${status}: ${message.slice(0, 500)}`, lost: gone, repeatable: gone };
}

function loginHint(name: string): string {
  return `${LOGIN_WANTED}; log in with \`interpreter mcp login ${name}\`, or set bearer_token_env_var`;
}

/** `fetch` says no more than "fetch failed"; the reason is in the cause. */
function networkFailure(error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null;
  const isNetwork = error instanceof TypeError && cause !== null;
  return { message: cause === null ? messageOf(error) : messageOf(cause), lost: isNetwork, repeatable: false };
}
