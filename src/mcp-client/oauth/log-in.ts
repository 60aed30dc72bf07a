/** A login by a person: the address to open, the way back over a loopback address, and the tokens that come of it. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FetchLike } from '@modelcontextprotocol/client';
import { type Env, messageOf, onAbort } from '../../util/index.js';
import type { HttpSettings } from '../http-transport.js';
import { LoginClient } from './login-client.js';
import { type LoginPlace, LoginStore, type StoredLogin } from './login-store.js';

export type LogInOptions = {
  readonly name: string;
  readonly settings: HttpSettings;
  readonly home: string;
  readonly env: Env;
  readonly version: string;
  /** Instead of those of the settings; what an earlier login has is asked for as well. */
  readonly scopes?: readonly string[];
  /** A client that was registered by hand; else we register ourselves. */
  readonly client?: { readonly id: string; readonly secret?: string };
  /** An https address where a document about us lies, for services that take such. */
  readonly clientMetadataUrl?: string;
  /** Port of the way back; default: any free one. */
  readonly callbackPort?: number;
  readonly place?: LoginPlace;
  /** Shows the person the address to open. */
  readonly showUrl: (url: string) => void;
  /** Gives up. */
  readonly signal: AbortSignal;
};

export type LoggedIn = { readonly place: LoginPlace; readonly scope: string | null };

/** Throws with a message for the person when there is no login to be had. */
export async function logIn(options: LogInOptions): Promise<LoggedIn> {
  const { settings, name, home, env } = options;
  const { openHttp } = await import('../http-fetch.js');
  const http = openHttp(env);
  const callback = await Callback.open(options.callbackPort ?? 0);
  try {
    const store = new LoginStore(home, options.place);
    const key = LoginStore.key(name, settings.url);
    const before = options.scopes === undefined ? null : await store.load(key);
    const login = await authorize(options, { callback, fetch: http.fetch, before });
    return { place: await store.save(key, login), scope: login.tokens?.scope ?? login.scope ?? null };
  } finally {
    callback.close();
    http.close();
  }
}

type Means = { callback: Callback; fetch: FetchLike; before: StoredLogin | null };

async function authorize(options: LogInOptions, { callback, fetch, before }: Means): Promise<StoredLogin> {
  const { auth } = await import('../sdk.js');
  const { settings, signal, client, clientMetadataUrl } = options;
  const challenge = await challengeOf(options, fetch);
  const scope = scopeOf(options.scopes ?? settings.scopes, before) ?? challenge.scope;
  const state = randomBytes(16).toString('base64url');
  const provider = new LoginClient({
    login: {
      redirect_url: callback.url,
      ...(scope === undefined ? {} : { scope }),
      ...(clientMetadataUrl === undefined ? {} : { client_metadata_url: clientMetadataUrl }),
      ...(client === undefined ? {} : { client: clientInformation(client) }),
    },
    scopes: scope?.split(' ') ?? [],
    resource: settings.oauth_resource ?? null,
    state,
    onRedirect: url => options.showUrl(url.href),
  });
  const common = {
    serverUrl: settings.url,
    fetchFn: fetch,
    ...(scope === undefined ? {} : { scope }),
    ...(challenge.resourceMetadataUrl ? { resourceMetadataUrl: challenge.resourceMetadataUrl } : {}),
  };
  // The way back has to be open before anybody can take it.
  const answer = callback.answer(state, signal);
  answer.catch(() => {
    // Told below, unless the way there has failed already.
  });
  if ((await auth(provider, common)) === 'AUTHORIZED') return provider.login;
  const { code, iss } = await answer;
  await auth(provider, { ...common, authorizationCode: code, ...(iss === null ? {} : { iss }) });
  return provider.login;
}

/** A service grants what is asked for and forgets the rest, so what was granted before is named again. */
function scopeOf(scopes: readonly string[], before: StoredLogin | null): string | undefined {
  if (scopes.length === 0) return undefined;
  const granted = before?.tokens?.scope ?? before?.scope ?? '';
  return [...new Set([...granted.split(' ').filter(one => one !== ''), ...scopes])].join(' ');
}

function clientInformation({ id, secret }: NonNullable<LogInOptions['client']>) {
  return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) };
}

type Challenge = { readonly resourceMetadataUrl?: URL; readonly scope?: string };

/** What the server says to somebody who comes without a token: which scopes, and where its metadata are. */
async function challengeOf({ settings, version }: LogInOptions, fetch: FetchLike): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('../sdk.js');
  const clientInfo = { name: 'open-interpreter', version };
  // Some let anybody say hello.
  const requests = [
    { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
    { method: 'tools/list', params: {} },
  ];
  for (const request of requests) {
    const response = await post(settings.url, request, fetch);
    if (response.status === 401) return extractWWWAuthenticateParams(response);
  }
  return {};
}

async function post(url: string, request: object, fetch: FetchLike): Promise<Response> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, ...request }),
    });
    await response.body?.cancel();
    return response;
  } catch (error) {
    throw new Error(`${url} can't be reached: ${reasonOf(error)}`, { cause: error });
  }
}

/** `fetch` says no more than "fetch failed"; the reason is in the cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? messageOf(error.cause) : messageOf(error);
}

type CallbackAnswer = { readonly code: string; readonly iss: string | null };

/** One page on 127.0.0.1 to which the person's browser is sent back. */
class Callback {
  readonly url: string;
  readonly #server: HttpServer;

  private constructor(server: HttpServer) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  }

  static open(port: number): Promise<Callback> {
    const server = createServer();
    return new Promise((resolve, reject) => {
      server.once('error', error => reject(new Error(`Port ${port} can't be used: ${messageOf(error)}`)));
      server.listen(port, '127.0.0.1', () => resolve(new Callback(server)));
    });
  }

  /** The first answer with the right `state`; anything else that knocks is ignored. */
  answer(state: string, signal: AbortSignal): Promise<CallbackAnswer> {
    return new Promise((resolve, reject) => {
      const stop = onAbort(signal, () => reject(new Error('the login was given up')));
      this.#server.on('request', (request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', this.url);
        if (pathname !== '/callback' || searchParams.get('state') !== state) {
          response.writeHead(404).end();
          return;
        }
        stop();
        const code = searchParams.get('code');
        const text = code === null ? 'The login was refused.' : 'The login is complete. You can close this page.';
        response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text);
        if (code !== null) resolve({ code, iss: searchParams.get('iss') });
        else reject(new Error(`the login was refused: ${refusal(searchParams)}`));
      });
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function refusal(params: URLSearchParams): string {
  const description = params.get('error_description');
  return [params.get('error') ?? 'no code was sent', ...(description ? [description] : [])].join(': ');
}
