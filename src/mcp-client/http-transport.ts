/** A server over streamable HTTP as a transport of the SDK: headers, token, and an end to calls whose stream broke off. */
import type {
  AuthProvider,
  FetchLike,
  JSONRPCMessage,
  StreamableHTTPClientTransport as SdkTransport,
} from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../protocol/index.js';
import type { Env } from '../util/index.js';
import { StreamableHTTPClientTransport } from './sdk.js';

export type HttpSettings = Extract<McpServerSettings['transport'], { type: 'http' }>;

export type HttpTransportOptions = {
  readonly settings: HttpSettings;
  readonly env: Env;
  readonly fetch: FetchLike;
  /** Of a login; absent where there is none. */
  readonly auth?: AuthProvider;
};

/** Throws when a variable that the settings name is not set. */
export function createHttpTransport({ settings, env, fetch, auth }: HttpTransportOptions): SdkTransport {
  const transport = new StreamableHTTPClientTransport(new URL(settings.url), {
    fetch,
    requestInit: { headers: headersOf(settings, env) },
    // A wider scope needs a person: that is what `login` is for.
    onInsufficientScope: 'throw',
    ...(auth ? { authProvider: auth } : {}),
  });
  endBrokenCalls(transport);
  return transport;
}

/** Header names and values; a missing variable would only be a puzzling 401 later. */
function headersOf(settings: HttpSettings, env: Env): Record<string, string> {
  const read = (variable: string, what: string): string => {
    const value = env[variable];
    if (value) return value;
    throw new Error(`the variable ${variable}, which holds its ${what}, is not set`);
  };
  const fromEnv = Object.entries(settings.env_http_headers).map(([name, variable]) => [
    name,
    read(variable, `header ${name}`),
  ]);
  const token = settings.bearer_token_env_var;
  return {
    ...settings.http_headers,
    ...Object.fromEntries(fromEnv),
    ...(token === undefined ? {} : { Authorization: `Bearer ${read(token, 'bearer token')}` }),
  };
}

/** The SDK leaves a request without an answer waiting when its stream ends; here it is answered with an error. */
function endBrokenCalls(transport: SdkTransport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!('id' in message) || !('method' in message) || options?.onRequestStreamEnd) return send(message, options);
    const { id } = message;
    return send(message, {
      ...options,
      onRequestStreamEnd: () => {
        const error = { code: -32603, message: 'the connection to the server ended before it had answered' };
        // A request that was answered is no longer known there, and this is then ignored.
        transport.onmessage?.({ jsonrpc: '2.0', id, error } satisfies JSONRPCMessage);
      },
    });
  };
}
