/**
 * Our client as the conformance suite drives it: given the address of a server, it connects, logs in when that is
 * wanted, and calls tools. The scenario and what it needs come in the environment.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  createMcpServers,
  type LogInOptions,
  logIn,
  type McpServers,
  type ThreadServers,
} from '../../src/mcp-client/index.js';
import type { McpServerSettings, ToolOutput } from '../../src/protocol/index.js';
import { createSandbox } from '../../src/sandbox/index.js';
import { ExecSessions } from '../../src/tools/index.js';
import { noTracer } from '../../src/util/index.js';
import { startDiscoveryProxy } from './discovery-proxy.js';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT = '{}' } = process.env;
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT) as {
  toolCalls?: { name: string; arguments: object }[];
  client_id?: string;
  client_secret?: string;
};
/** Servers of the suite that have the newer tools but not the newer greeting. */
const WITHOUT_GREETING = /^(http-(custom|standard|invalid)|sep-2322|json-schema-ref)/;
const NEVER = new AbortController().signal;
const MOST_LOGINS = 3;

async function main(address: string): Promise<void> {
  const home = mkdtempSync('/var/tmp/mcp-conformance-');
  const proxy = WITHOUT_GREETING.test(scenario) ? await startDiscoveryProxy(address) : null;
  try {
    await run(home, proxy?.url ?? address);
  } finally {
    proxy?.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function run(home: string, url: string): Promise<void> {
  const settings = settingsOf(url);
  let scopes: string[] | undefined;
  for (let logins = 0; ; logins++) {
    const wanted = await inProcess(home, servers => visit(servers, settings));
    if (wanted === null) return;
    if (logins === MOST_LOGINS) throw new Error('it wants one login after the other');
    scopes = wanted.length > 0 ? [...new Set([...(scopes ?? []), ...wanted])] : undefined;
    await logIn(loginOptions(home, settings, scopes));
  }
}

async function inProcess<T>(home: string, work: (servers: McpServers) => Promise<T>): Promise<T> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const sandbox = createSandbox({ home, stateDir: path.join(home, 'state'), env, warn: console.error });
  const log = (level: string, message: string) => level === 'debug' || console.error(level, message);
  const servers = createMcpServers({ version: '1.0.0', home, env, runner: sandbox, log, program: null });
  try {
    return await work(servers);
  } finally {
    await servers.close();
    await sandbox.close();
  }
}

/** Null when everything went well; the scopes of a login that is wanted otherwise. Throws for other failures. */
async function visit(servers: McpServers, settings: McpServerSettings): Promise<string[] | null> {
  const thread = servers.forThread([settings], { cwd: process.cwd(), search: false });
  const end = thread.beginTurn(() => {});
  try {
    const [missing] = await thread.ready(NEVER);
    if (missing) return wantedScopes(missing.error);
    for (const { name, args } of callsOf(thread)) {
      const text = await call(thread, name, args);
      console.error(`${name}: ${text.slice(0, 300)}`);
      if (/mcp login/.test(text)) return wantedScopes(text);
    }
    return null;
  } finally {
    end();
  }
}

function wantedScopes(error: string): string[] {
  if (!/mcp login/.test(error)) throw new Error(error);
  return /--scopes (\S+)`/.exec(error)?.[1]?.split(',') ?? [];
}

function callsOf(thread: ThreadServers): { name: string; args: object }[] {
  if (context.toolCalls) return context.toolCalls.map(one => ({ name: `mcp__t__${one.name}`, args: one.arguments }));
  const args =
    scenario === 'tools_call' ? { a: 5, b: 3 } : scenario.startsWith('http-invalid') ? { region: 'us-west1' } : {};
  // One tool wants to see the schema of the other one.
  const [echoed] = thread
    .specs()
    .flatMap(spec => (spec.type === 'function' && !spec.name.endsWith('json_schema_echo') ? [spec.parameters] : []));
  return thread.specs().flatMap(spec => {
    if (spec.type !== 'function') return [];
    const echo = spec.name.endsWith('json_schema_echo');
    return [{ name: spec.name, args: echo ? { schema: echoed } : args }];
  });
}

async function call(thread: ThreadServers, name: string, args: object): Promise<string> {
  const tool = thread.find(name);
  const parsed = tool?.parse(JSON.stringify(args));
  if (!tool || !parsed?.ok) return 'not offered';
  const { output } = await tool.run(parsed.input, {
    call_id: 'c',
    cwd: process.cwd(),
    workspace: process.cwd(),
    policy: { type: 'danger-full-access' },
    home: process.cwd(),
    tmpdir: null,
    shell: '/bin/sh',
    allow_login_shell: false,
    sandboxed: false,
    env: {},
    runner: { start: () => Promise.reject(new Error('no commands here')) },
    sessions: new ExecSessions(),
    signal: NEVER,
    emit: () => {},
    span: noTracer.span(''),
    output_budget_bytes: 10_000,
    parsed_command: [],
    max_poll_ms: 0,
    ask: () =>
      Promise.resolve({ type: 'approved', content: scenario.startsWith('sep-2322') ? { confirmed: true } : {} }),
  });
  return textOf(output);
}

function textOf(output: ToolOutput): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function settingsOf(url: string): McpServerSettings {
  return {
    name: 't',
    transport: { type: 'http', url, http_headers: {}, env_http_headers: {}, scopes: [] },
    required: true,
    startup_timeout_ms: 60_000,
    tool_timeout_ms: 60_000,
    enabled_tools: null,
    disabled_tools: [],
    default_tools_approval_mode: 'approve',
    tool_approval_modes: {},
    supports_parallel_tool_calls: false,
  };
}

function loginOptions(home: string, settings: McpServerSettings, scopes: string[] | undefined): LogInOptions {
  if (settings.transport.type !== 'http') throw new Error('no http');
  const { client_id: id, client_secret: secret } = context;
  return {
    name: settings.name,
    settings: settings.transport,
    home,
    env: {},
    version: '1.0.0',
    place: 'file',
    ...(scopes === undefined ? {} : { scopes }),
    ...(id === undefined ? {} : { client: { id, ...(secret === undefined ? {} : { secret }) } }),
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    // A person who opens the address and says yes.
    showUrl: url => void fetch(url).catch((error: unknown) => console.error(error)),
    signal: AbortSignal.timeout(60_000),
  };
}

await main(process.argv.at(-1) ?? '');
