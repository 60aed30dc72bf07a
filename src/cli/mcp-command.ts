/** `interpreter mcp add`, `list`, `get` and `remove`: the MCP servers of the configuration. */
import path from 'node:path';
import {
  type ConfigEdit,
  editConfig,
  explainConfig,
  hasConfigKey,
  homeDir,
  type LoadOptions,
  loadConfig,
} from '../config/index.js';
import { type Inspection, inspectServers, LoginStore } from '../mcp-client/index.js';
import type { McpServerSettings } from '../protocol/index.js';
import { type Env, isObject, packageVersion } from '../util/index.js';
import { createLog } from './log.js';
import { openSandbox } from './open-sandbox.js';
import { type ConfigFlags, loadOptions } from './options.js';
import type { Output } from './output.js';

type JsonFlags = ConfigFlags & { readonly json: boolean };

/** A server that takes longer than this has no place in a list that somebody waits for. */
const LIST_LIMIT_MS = 10_000;

export type NewServer = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly bearerTokenEnvVar?: string;
  readonly header?: Readonly<Record<string, string>>;
};

/** Exit code 2: the words do not fit together. Throws ConfigError. */
export function addServer(env: Env, server: NewServer, output: Output): number {
  const problem = problemOf(server);
  if (problem !== null) {
    output.err(`${problem}\n`);
    return 2;
  }
  const file = userFile(env);
  const path_ = ['mcp_servers', server.name];
  const replaced = hasConfigKey(file, path_);
  const edits = valuesOf(server).map(([key, value]): ConfigEdit => ({ type: 'set', path: [...path_, key], value }));
  const result = editConfig(file, [{ type: 'remove', path: path_ }, ...edits]);
  for (const warning of result.warnings) output.err(`warning: ${warning}\n`);
  output.out(`MCP server ${server.name} ${replaced ? 'replaced' : 'added'} in ${result.file}\n`);
  if (server.url !== undefined && server.bearerTokenEnvVar === undefined) {
    output.out(`If it wants a login: interpreter mcp login ${server.name}\n`);
  }
  return 0;
}

function problemOf({ name, argv, env, cwd, url, bearerTokenEnvVar, header }: NewServer): string | null {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return `"${name}" can't be a name: use letters, digits, - and _.`;
  if (url === undefined) {
    if (argv.length === 0) return 'Say what the server is: a program after --, or --url.';
    if (bearerTokenEnvVar !== undefined) return '--bearer-token-env-var is for servers with --url.';
    return header === undefined ? null : '--header is for servers with --url.';
  }
  if (argv.length > 0) return 'A server has a program or --url, not both.';
  if (env !== undefined) return '--env is for servers that are programs.';
  if (cwd !== undefined) return '--cwd is for servers that are programs.';
  const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isUrl ? null : `"${url}" is no http or https address.`;
}

function valuesOf({ argv, env, cwd, url, bearerTokenEnvVar, header }: NewServer): [string, unknown][] {
  const [command, ...args] = argv;
  const values: [string, unknown][] = [
    ['command', command],
    ['args', args.length === 0 ? undefined : args],
    ['env', env],
    ['cwd', cwd === undefined ? undefined : path.resolve(cwd)],
    ['url', url],
    ['bearer_token_env_var', bearerTokenEnvVar],
    ['http_headers', header],
  ];
  return values.filter(([, value]) => value !== undefined);
}

/** Exit code 0 whatever state the servers are in. Throws ConfigError. */
export async function listServers(env: Env, { json, ...flags }: JsonFlags, output: Output): Promise<number> {
  const load = loadOptions(env, flags);
  const { mcp_servers: servers, cwd } = loadConfig(load);
  const inspections = await inspect(env, servers, cwd);
  const disabled = disabledServers(load);
  if (json) output.out(`${JSON.stringify(asJson(servers, inspections, disabled), null, 2)}\n`);
  else if (servers.length + disabled.length === 0) {
    output.out('No MCP servers are configured. Add one: interpreter mcp add <name> -- <command>\n');
  } else output.out(table(servers, inspections, disabled));
  return 0;
}

async function inspect(env: Env, servers: readonly McpServerSettings[], cwd: string): Promise<Inspection[]> {
  const log = createLog(env);
  const home = homeDir(env);
  const sandbox = openSandbox(env, log);
  const leave = () => sandbox.killAllNow();
  process.once('exit', leave);
  try {
    return await inspectServers(
      {
        version: packageVersion(),
        home,
        env,
        runner: sandbox,
        // Why a server failed stands in the list.
        log: (level, message) => log(level === 'warn' ? 'info' : level, message),
        program: process.argv[1] ?? null,
      },
      servers,
      { cwd, limitMs: LIST_LIMIT_MS },
    );
  } finally {
    await sandbox.close();
    process.off('exit', leave);
  }
}

/** Servers with `enabled = false`, by name. */
function disabledServers(load: LoadOptions): string[] {
  return explainConfig(load).values.flatMap(({ key, value }) => {
    const quoted = /^mcp_servers\.(.+)\.enabled$/.exec(key)?.[1];
    if (quoted === undefined || value !== false) return [];
    return [quoted.startsWith('"') ? (JSON.parse(quoted) as string) : quoted];
  });
}

function asJson(
  servers: readonly McpServerSettings[],
  inspections: readonly Inspection[],
  disabled: readonly string[],
): unknown[] {
  const enabled = servers.map((settings, i) => {
    const { name: _, ...inspection } = inspections[i] ?? { name: '', state: 'failed', error: null, tools: null };
    return { name: settings.name, enabled: true, ...inspection, transport: shownTransport(settings) };
  });
  return [...enabled, ...disabled.map(name => ({ name, enabled: false, state: 'disabled' }))];
}

const AUTH_WORDS = {
  none: '-',
  bearer_token: 'bearer token',
  headers: 'headers',
  login: 'logged in',
  login_needed: 'login needed',
} as const;

function table(
  servers: readonly McpServerSettings[],
  inspections: readonly Inspection[],
  disabled: readonly string[],
): string {
  const rows = [['NAME', 'STATE', 'TRANSPORT', 'AUTH', 'TOOLS']];
  for (const [i, settings] of servers.entries()) {
    const { state = 'failed', auth = 'none', tools = null } = inspections[i] ?? {};
    rows.push([settings.name, state, settings.transport.type, AUTH_WORDS[auth], tools === null ? '-' : String(tools)]);
  }
  for (const name of disabled) rows.push([name, 'disabled', '-', '-', '-']);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const errors = inspections.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`]));
  return `${[...lines, ...(errors.length > 0 ? ['', ...errors] : [])].join('\n')}\n`;
}

/** Exit code 1: there is no such server. Throws ConfigError. */
export function getServer(env: Env, name: string, flags: JsonFlags, output: Output): number {
  const settings = findServer(env, name, flags, output);
  if (settings === null) return 1;
  const { transport: _, ...rest } = settings;
  const shown = { ...rest, transport: shownTransport(settings) };
  output.out(flags.json ? `${JSON.stringify(shown, null, 2)}\n` : `${lines(shown).join('\n')}\n`);
  return 0;
}

/** The server of that name in the configuration in force; null after saying that there is none. Throws ConfigError. */
export function findServer(env: Env, name: string, flags: ConfigFlags, output: Output): McpServerSettings | null {
  const servers = loadConfig(loadOptions(env, flags)).mcp_servers;
  const found = servers.find(server => server.name === name);
  if (found !== undefined) return found;
  const names = servers.map(server => server.name).join(', ');
  output.err(
    `No enabled MCP server has the name ${name}. ${names === '' ? 'None is configured.' : `There are: ${names}.`}\n`,
  );
  return null;
}

/** Values of variables and headers are secrets until somebody says otherwise; their names are not. */
function shownTransport({ transport }: McpServerSettings): Record<string, unknown> {
  if (transport.type === 'stdio') {
    const { env, ...rest } = transport;
    return { ...rest, env: Object.keys(env) };
  }
  const { http_headers, ...rest } = transport;
  return { ...rest, http_headers: Object.keys(http_headers) };
}

function lines(value: Record<string, unknown>, indent = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    isObject(inner)
      ? [`${indent}${key}:`, ...lines(inner, `${indent}  `)]
      : [`${indent}${key}: ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`],
  );
}

/** Exit code 1: the user's config.toml has no such server. Throws ConfigError. */
export async function removeServer(env: Env, name: string, output: Output): Promise<number> {
  const file = userFile(env);
  const place = ['mcp_servers', name];
  if (!hasConfigKey(file, place)) {
    output.err(`${file} has no MCP server ${name}.${elsewhere(env, name)}\n`);
    return 1;
  }
  const before = loadConfig(loadOptions(env, {})).mcp_servers.find(server => server.name === name);
  const { file: written } = editConfig(file, [{ type: 'remove', path: place }]);
  output.out(`MCP server ${name} removed from ${written}\n`);
  if (before?.transport.type === 'http') {
    const key = LoginStore.key(name, before.transport.url);
    if (await new LoginStore(homeDir(env)).remove(key)) output.out('Its login was removed as well.\n');
  }
  return 0;
}

function elsewhere(env: Env, name: string): string {
  const row = explainConfig(loadOptions(env, {})).values.find(({ key }) => key.startsWith(`mcp_servers.${name}.`));
  return row?.source ? ` It is configured in ${row.source}.` : '';
}

function userFile(env: Env): string {
  return path.join(homeDir(env), 'config.toml');
}
