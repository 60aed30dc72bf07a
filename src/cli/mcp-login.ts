/** `interpreter mcp login` and `logout`. */
import { homeDir } from '../config/index.js';
import { LoginStore, logIn } from '../mcp-client/index.js';
import type { McpServerSettings } from '../protocol/index.js';
import { type Env, messageOf, packageVersion } from '../util/index.js';
import { findServer } from './mcp-command.js';
import type { ConfigFlags } from './options.js';
import type { Output } from './output.js';

type HttpTransport = Extract<McpServerSettings['transport'], { type: 'http' }>;

/** How long the person may take in the browser. */
const LOGIN_LIMIT_MS = 10 * 60_000;

export type LoginRequest = ConfigFlags & {
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly clientId?: string;
  readonly clientSecretEnvVar?: string;
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  readonly file?: boolean;
};

/** Waits for the person to come back from the browser. Exit code 1: no login. Throws ConfigError. */
export async function loginToServer(env: Env, request: LoginRequest, output: Output): Promise<number> {
  const { name, scopes, clientMetadataUrl, callbackPort } = request;
  const settings = httpServer(env, name, request, output);
  if (settings === null) return 1;
  const client = clientOf(env, request, output);
  if (client === null) return 1;
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on('SIGINT', onSignal);
  try {
    const { place, scope } = await logIn({
      name,
      settings,
      home: homeDir(env),
      env,
      version: packageVersion(),
      ...(scopes === undefined ? {} : { scopes }),
      ...client,
      ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
      ...(callbackPort === undefined ? {} : { callbackPort }),
      ...(request.file === true ? { place: 'file' as const } : {}),
      showUrl: url => output.out(`Open this address in a browser to log in to ${name}:\n\n${url}\n\n`),
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(LOGIN_LIMIT_MS)]),
    });
    const where = place === 'keyring' ? "the system's keyring" : `${homeDir(env)}/mcp-auth.json, readable by you alone`;
    output.out(`Logged in to ${name}${scope ? ` (${scope})` : ''}. The login is kept in ${where}.\n`);
    return 0;
  } catch (error) {
    output.err(`No login to ${name}: ${messageOf(error)}\n`);
    return 1;
  } finally {
    process.off('SIGINT', onSignal);
  }
}

/** Exit code 1: there was none. Throws ConfigError. */
export async function logoutFromServer(env: Env, name: string, flags: ConfigFlags, output: Output): Promise<number> {
  const settings = httpServer(env, name, flags, output);
  if (settings === null) return 1;
  if (await new LoginStore(homeDir(env)).remove(LoginStore.key(name, settings.url))) {
    output.out(`The login to ${name} was removed.\n`);
    return 0;
  }
  output.err(`There is no login to ${name}.\n`);
  return 1;
}

function httpServer(env: Env, name: string, flags: ConfigFlags, output: Output): HttpTransport | null {
  const settings = findServer(env, name, flags, output);
  if (settings === null) return null;
  if (settings.transport.type === 'http') return settings.transport;
  output.err(`${name} is a program on this machine; only servers with a url have logins.\n`);
  return null;
}

function clientOf(
  env: Env,
  { clientId, clientSecretEnvVar }: LoginRequest,
  output: Output,
): { client?: { id: string; secret?: string } } | null {
  const secret = clientSecretEnvVar === undefined ? undefined : env[clientSecretEnvVar];
  if (clientSecretEnvVar !== undefined && (secret === undefined || clientId === undefined)) {
    output.err(`--client-secret-env-var wants a variable that is set, and --client-id.\n`);
    return null;
  }
  return clientId === undefined ? {} : { client: { id: clientId, ...(secret === undefined ? {} : { secret }) } };
}
