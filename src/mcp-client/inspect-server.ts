/** Looks at one server from the command line: does it answer, and with how many tools? */
import type { McpServerSettings } from '../protocol/index.js';
import { within } from '../util/index.js';
import type { McpClientDeps } from './deps.js';
import { LOGIN_WANTED } from './login-wanted.js';
import { LoginStore } from './oauth/login-store.js';
import { ServerPool } from './server-pool.js';

export type Inspection = {
  readonly name: string;
  readonly state: 'ready' | 'failed';
  readonly error: string | null;
  /** Of those that the settings let through; null when it did not answer. */
  readonly tools: number | null;
  readonly auth: 'none' | 'bearer_token' | 'headers' | 'login' | 'login_needed';
};

/** All at once; each within `limitMs`. */
export async function inspectServers(
  deps: McpClientDeps,
  servers: readonly McpServerSettings[],
  { cwd, limitMs }: { cwd: string; limitMs: number },
): Promise<Inspection[]> {
  const pool = new ServerPool(deps);
  try {
    return await Promise.all(servers.map(settings => inspect(deps, pool, settings, { cwd, limitMs })));
  } finally {
    await pool.close();
  }
}

async function inspect(
  deps: McpClientDeps,
  pool: ServerPool,
  settings: McpServerSettings,
  { cwd, limitMs }: { cwd: string; limitMs: number },
): Promise<Inspection> {
  const server = pool.server(settings, cwd);
  const auth = await authOf(deps, settings);
  await within(server.start(), limitMs);
  const { name } = settings;
  const { status, tools } = server;
  if (status.state === 'ready') {
    const { enabled_tools, disabled_tools } = settings;
    const chosen = (tools ?? []).filter(
      tool => (enabled_tools?.includes(tool.name) ?? true) && !disabled_tools.includes(tool.name),
    );
    return { name, state: 'ready', error: null, tools: chosen.length, auth };
  }
  const error = status.state === 'failed' ? status.error : `no answer within ${limitMs / 1000} s`;
  return { name, state: 'failed', error, tools: null, auth: error.startsWith(LOGIN_WANTED) ? 'login_needed' : auth };
}

async function authOf(deps: McpClientDeps, { name, transport }: McpServerSettings): Promise<Inspection['auth']> {
  if (transport.type === 'stdio') return 'none';
  if (transport.bearer_token_env_var !== undefined) return 'bearer_token';
  if (await new LoginStore(deps.home).has(LoginStore.key(name, transport.url))) return 'login';
  const names = [...Object.keys(transport.http_headers), ...Object.keys(transport.env_http_headers)];
  return names.some(header => /^(authorization|.*-(key|token))$/i.test(header)) ? 'headers' : 'none';
}
