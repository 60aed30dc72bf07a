/** `[mcp_servers]`: what to start or to connect to. */
import type { McpServerSettings } from '../protocol/index.js';
import type { Env } from '../util/index.js';
import type { MergedLayers } from './layer.js';

type RawServer = NonNullable<MergedLayers['values']['mcp_servers']>[string];
type Warn = (message: string) => void;

/** What a server on stdio gets of the own environment without being asked for. */
const PASSED_ON = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'APPDATA',
  'LOCALAPPDATA',
  'SYSTEMROOT',
  'USERPROFILE',
  'TEMP',
  'TMP',
];

/** Disabled servers are left out. Throws ConfigError for one that is neither a program nor a URL. */
export function resolveMcpServers(merged: MergedLayers, env: Env, warn: Warn): McpServerSettings[] {
  return Object.entries(merged.values.mcp_servers ?? {}).flatMap(([name, raw]) => {
    const transport = transportOf(name, raw, merged, env, warn);
    if (raw.enabled === false) return [];
    const startup = raw.startup_timeout_sec === undefined ? raw.startup_timeout_ms : raw.startup_timeout_sec * 1000;
    return [
      {
        name,
        transport,
        required: raw.required ?? false,
        startup_timeout_ms: startup ?? 30_000,
        tool_timeout_ms: (raw.tool_timeout_sec ?? 300) * 1000,
        enabled_tools: raw.enabled_tools ?? null,
        disabled_tools: raw.disabled_tools ?? [],
        default_tools_approval_mode: raw.default_tools_approval_mode ?? 'auto',
        tool_approval_modes: Object.fromEntries(
          Object.entries(raw.tools ?? {}).flatMap(([tool, { approval_mode }]) =>
            approval_mode === undefined ? [] : [[tool, approval_mode] as const],
          ),
        ),
        supports_parallel_tool_calls: raw.supports_parallel_tool_calls ?? false,
      },
    ];
  });
}

function transportOf(
  name: string,
  raw: RawServer,
  merged: MergedLayers,
  env: Env,
  warn: Warn,
): McpServerSettings['transport'] {
  const path = ['mcp_servers', name];
  if (raw.command !== undefined && raw.url !== undefined) {
    throw merged.errorAt([...path, 'url'], '`command` and `url` exclude each other; an MCP server has one of them');
  }
  const inherited = (variable: string, what: string) => {
    const value = env[variable];
    if (value === undefined)
      warn(`The variable ${variable} (${what} of the MCP server \`${name}\`) is not set; it is left out.`);
    return value;
  };
  const filled = (values: Readonly<Record<string, string>> | undefined) =>
    Object.entries(values ?? {}).flatMap(([key, text]): [string, string][] => {
      const value = text.startsWith('env:') ? inherited(text.slice(4), key) : text;
      return value === undefined ? [] : [[key, value]];
    });
  if (raw.command !== undefined) {
    const names = (raw.env_vars ?? []).map(one => (typeof one === 'string' ? one : one.name));
    const passed = [...new Set([...PASSED_ON, ...names])].flatMap((variable): [string, string][] => {
      const value = env[variable];
      return value === undefined ? [] : [[variable, value]];
    });
    return {
      type: 'stdio',
      command: raw.command,
      args: raw.args ?? [],
      env: Object.fromEntries([...passed, ...filled(raw.env)]),
      ...(raw.cwd === undefined ? {} : { cwd: raw.cwd }),
    };
  }
  if (raw.url === undefined) throw merged.errorAt(path, 'an MCP server needs `command` (a program) or `url`');
  if (!URL.canParse(raw.url) || !/^https?:\/\//i.test(raw.url)) {
    throw merged.errorAt([...path, 'url'], `\`${raw.url}\` is not a URL that starts with http:// or https://`);
  }
  return {
    type: 'http',
    url: raw.url,
    ...(raw.bearer_token_env_var === undefined ? {} : { bearer_token_env_var: raw.bearer_token_env_var }),
    http_headers: Object.fromEntries(filled(raw.http_headers)),
    env_http_headers: { ...raw.env_http_headers },
    scopes: raw.scopes ?? [],
    ...(raw.oauth_resource === undefined ? {} : { oauth_resource: raw.oauth_resource }),
  };
}
