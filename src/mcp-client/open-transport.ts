/** The way to a server: its process, or HTTP. */
import path from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../protocol/index.js';
import { messageOf, within } from '../util/index.js';
import { CommandTransport } from './command-transport.js';
import type { McpClientDeps } from './deps.js';
import type { Http } from './http-fetch.js';
import type { HttpSettings } from './http-transport.js';
import { storedAuth } from './oauth/stored-auth.js';
import { childDepth } from './self-hosting.js';

/** How long a server over HTTP may take to say goodbye. */
const GOODBYE_MS = 300;

export interface ServerTransport {
  readonly transport: Transport;
  /** How the process ended, in words; null while it runs, and always for HTTP. */
  end(): string | null;
  /** The last line of its log; "" where there is none. */
  lastWords(): string;
  /** What the protocol wants before the transport is closed; never rejects. */
  goodbye(): Promise<void>;
}

export type TransportOptions = {
  readonly settings: McpServerSettings;
  /** Of the thread: where a process runs whose settings name no folder. */
  readonly cwd: string;
  readonly deps: McpClientDeps;
  /** The HTTP client that all servers share. */
  readonly http: () => Promise<Http>;
};

/** A process is running when this resolves. Rejects with the reason when it can't be started. */
export async function openTransport(options: TransportOptions): Promise<ServerTransport> {
  const { transport } = options.settings;
  return transport.type === 'stdio' ? openCommand(options, transport) : openHttpTransport(options, transport);
}

type StdioSettings = Extract<McpServerSettings['transport'], { type: 'stdio' }>;

async function openCommand(
  { settings, cwd, deps }: TransportOptions,
  { command, args, env, cwd: ownCwd }: StdioSettings,
): Promise<ServerTransport> {
  const folder = path.resolve(cwd, ownCwd ?? '');
  const transport = new CommandTransport({
    name: settings.name,
    runner: deps.runner,
    spec: { argv: [command, ...args], cwd: folder, env: { ...env, ...childDepth(deps.env) } },
    log: deps.log,
  });
  await transport.spawn();
  return {
    transport,
    end: () => transport.end,
    lastWords: () => transport.lastWords,
    goodbye: () => Promise.resolve(),
  };
}

async function openHttpTransport(
  { settings, deps, http }: TransportOptions,
  transportSettings: HttpSettings,
): Promise<ServerTransport> {
  const [{ createHttpTransport }, { fetch }] = await Promise.all([import('./http-transport.js'), http()]);
  const auth = await storedAuth({ name: settings.name, settings: transportSettings, deps, fetch });
  const transport = createHttpTransport({
    settings: transportSettings,
    env: deps.env,
    fetch,
    ...(auth === null ? {} : { auth }),
  });
  return {
    transport,
    end: () => null,
    lastWords: () => '',
    goodbye: async () => {
      // A server that does not want to hear of it forgets the session by itself.
      const ended = transport.terminateSession().catch((error: unknown) => {
        deps.log('debug', `MCP server \`${settings.name}\`: goodbye: ${messageOf(error)}`);
      });
      await within(ended, GOODBYE_MS);
    },
  };
}
