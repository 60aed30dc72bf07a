/** One connection to one server: the handshake in either era, its tools, and calls to them. */
import { pathToFileURL } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import type { McpServerSettings, McpToolResult } from '../protocol/index.js';
import { messageOf, onAbort } from '../util/index.js';
import { type AskPerson, answerElicitation } from './ask-person.js';
import type { McpClientDeps } from './deps.js';
import { explainFailure, type Failure } from './explain-failure.js';
import type { ServerTransport } from './open-transport.js';
import { QuietTimer } from './quiet-timer.js';
import { type RepairListener, repairMessage } from './repair-message.js';
import type * as Sdk from './sdk.js';
import { type ServerTool, serverTools } from './server-tool.js';

/** Larger than any wait; the limits of a call are our own. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Lists of tools come in pages; a server that never ends its list is stopped here. */
const MAX_PAGES = 1000;
const MAX_TOOLS = 2000;
/** Changes of the list within this time are fetched once. */
const SETTLE_MS = 100;

export type ConnectionOptions = {
  readonly settings: McpServerSettings;
  readonly deps: McpClientDeps;
  readonly sdk: typeof Sdk;
  readonly transport: ServerTransport;
  /** `auto`: 2026-07-28 where the server offers it, found out on this very connection. */
  readonly era: 'auto' | 'legacy';
  /** Folders the server is told about when it asks; empty = none are offered. */
  readonly roots: readonly string[];
  /** Ends the handshake and the first list. */
  readonly signal: AbortSignal;
  readonly onToolsChanged: (tools: ServerTool[]) => void;
};

export type CallRequest = {
  readonly tool: ServerTool;
  readonly arguments: Record<string, unknown>;
  /** Further members of `_meta`. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Milliseconds without an answer or a sign of progress. */
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
  readonly ask: AskPerson;
};

export type CallOutcome =
  | { readonly type: 'result'; readonly result: McpToolResult }
  | ({ readonly type: 'failed' } & Failure)
  | { readonly type: 'interrupted' };

type RunningCall = { readonly ask: AskPerson; readonly timer: QuietTimer };

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #running = new Set<RunningCall>();
  #refresh: NodeJS.Timeout | undefined;
  #told = false;
  /** Resolves when it is closed, by whom ever, with how the process ended or null. */
  readonly closed: Promise<string | null>;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#client = this.#createClient();
    this.closed = new Promise(resolve => {
      this.#client.onclose = () => {
        clearTimeout(this.#refresh);
        resolve(options.transport.end());
      };
    });
  }

  /** The connection and the server's tools. Rejects with what the SDK says; the transport is closed then. */
  static async open(options: ConnectionOptions): Promise<{ connection: Connection; tools: ServerTool[] }> {
    const connection = new Connection(options);
    try {
      await connection.#handshake();
      return { connection, tools: await connection.#listTools(options.signal) };
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Never rejects. */
  async call(request: CallRequest): Promise<CallOutcome> {
    const stop = new AbortController();
    const timer = new QuietTimer(request.timeout_ms, () => stop.abort('time limit'));
    const stopListening = onAbort(request.signal, () => stop.abort('interrupted'));
    const running: RunningCall = { ask: request.ask, timer };
    this.#running.add(running);
    try {
      const result = await this.#client.callTool(
        { name: request.tool.name, arguments: request.arguments, _meta: { ...request.meta } },
        {
          signal: stop.signal,
          timeout: NO_LIMIT_MS,
          onprogress: () => timer.reset(),
          toolDefinition: { name: request.tool.name, inputSchema: { ...request.tool.input_schema, type: 'object' } },
        },
      );
      return { type: 'result', result: toolResult(result) };
    } catch (error) {
      if (request.signal.aborted) return { type: 'interrupted' };
      if (stop.signal.aborted) return { type: 'failed', ...timedOut(request.timeout_ms) };
      return { type: 'failed', ...this.explain(error) };
    } finally {
      timer.stop();
      stopListening();
      this.#running.delete(running);
    }
  }

  explain(error: unknown): Failure {
    const { sdk, settings, transport } = this.#options;
    return explainFailure(error, { sdk, name: settings.name, end: transport.end() });
  }

  /** Idempotent; at most about a second. */
  async close(): Promise<void> {
    await this.#options.transport.goodbye();
    await this.#client.close().catch((error: unknown) => this.#debug(`closing: ${messageOf(error)}`));
    await this.#options.transport.transport.close().catch((error: unknown) => this.#debug(messageOf(error)));
  }

  #createClient(): Client {
    const { sdk, deps, era, settings, roots } = this.#options;
    const client = new sdk.Client(
      { name: 'open-interpreter', title: 'Open Interpreter', version: deps.version },
      {
        capabilities: {
          elicitation: { form: { applyDefaults: true }, url: {} },
          ...(roots.length > 0 ? { roots: {} } : {}),
        },
        versionNegotiation: { mode: era, probe: { timeoutMs: probeLimit(settings.startup_timeout_ms) } },
        listMaxPages: MAX_PAGES,
      },
    );
    client.onerror = error => this.#debug(error.message);
    client.setRequestHandler('elicitation/create', request => this.#elicit(request.params));
    if (roots.length > 0) {
      client.setRequestHandler('roots/list', () => ({
        roots: roots.map(root => ({ uri: pathToFileURL(root).href, name: root })),
      }));
    }
    client.setNotificationHandler('notifications/message', ({ params }) => {
      const text = typeof params.data === 'string' ? params.data : JSON.stringify(params.data);
      deps.log('info', `[${settings.name}] ${params.level}: ${text.slice(0, 2000)}`);
    });
    client.setNotificationHandler('notifications/tools/list_changed', () => this.#refreshSoon());
    return client;
  }

  async #handshake(): Promise<void> {
    const { transport, settings, signal } = this.#options;
    const tell: RepairListener = problem => this.#tellOnce(problem);
    // Chained by the SDK: what is changed here is what it then reads.
    transport.transport.onmessage = message => repairMessage(message, tell);
    await this.#client.connect(transport.transport, { timeout: settings.startup_timeout_ms, signal });
    if (this.#client.getProtocolEra() === 'modern' && this.#client.getServerCapabilities()?.tools?.listChanged) {
      // In this era changes are told to those who asked for them; a server that refuses is as good as one that never changes.
      this.#client
        .listen({ toolsListChanged: true }, { timeout: NO_LIMIT_MS })
        .catch((error: unknown) => this.#debug(`no news about its tools: ${messageOf(error)}`));
    }
  }

  async #listTools(signal?: AbortSignal): Promise<ServerTool[]> {
    if (!this.#client.getServerCapabilities()?.tools) return [];
    const { tools } = await this.#client.listTools(undefined, {
      cacheMode: 'refresh',
      timeout: this.#options.settings.startup_timeout_ms,
      ...(signal ? { signal } : {}),
    });
    if (tools.length > MAX_TOOLS) {
      this.#options.deps.log(
        'warn',
        `MCP server \`${this.#options.settings.name}\` has ${tools.length} tools; the first ${MAX_TOOLS} are used. Choose with enabled_tools.`,
      );
    }
    return serverTools(tools.slice(0, MAX_TOOLS));
  }

  #refreshSoon(): void {
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      this.#listTools().then(
        tools => this.#options.onToolsChanged(tools),
        (error: unknown) => this.#debug(`its tools could not be listed again: ${messageOf(error)}`),
      );
    }, SETTLE_MS).unref();
  }

  /** No protocol says on whose behalf a server asks; it is the call that was made last. */
  async #elicit(params: Parameters<typeof answerElicitation>[0]) {
    const call = [...this.#running].at(-1);
    for (const { timer } of this.#running) timer.hold();
    const held = [...this.#running];
    try {
      return await answerElicitation(params, call?.ask ?? null);
    } finally {
      for (const { timer } of held) timer.release();
    }
  }

  #tellOnce(problem: string): void {
    const { deps, settings } = this.#options;
    deps.log(this.#told ? 'debug' : 'warn', `MCP server \`${settings.name}\`: ${problem}.`);
    this.#told = true;
  }

  #debug(message: string): void {
    this.#options.deps.log('debug', `MCP server \`${this.#options.settings.name}\`: ${message}`);
  }
}

/** A server that does not know the question may stay silent; most answer it in milliseconds. */
function probeLimit(startupMs: number): number {
  return Math.min(3000, Math.ceil(startupMs / 4));
}

function timedOut(ms: number): Failure {
  const message = `no answer within the time limit of ${ms / 1000} s (tool_timeout_sec); the call was cancelled`;
  return { message, lost: false, repeatable: false };
}

function toolResult(result: Awaited<ReturnType<Client['callTool']>>): McpToolResult {
  return {
    content: result.content.map(block => ({ ...block })),
    ...(result.structuredContent === undefined ? {} : { structured_content: result.structuredContent }),
    ...(result.isError === undefined ? {} : { is_error: result.isError }),
  };
}
