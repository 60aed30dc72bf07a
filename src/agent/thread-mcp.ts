/** The MCP servers of one thread as its turns see them: events and warnings, and the wait before the first request. */
import type { ServerReport, ThreadServers } from '../mcp-client/index.js';
import type { EventSink, HistoryItem, McpServerState, TurnError } from '../protocol/index.js';

export type McpTurn = {
  readonly emit: EventSink;
  /** For the person: a warning in the turn. */
  readonly warn: (message: string) => void;
  readonly history: readonly HistoryItem[];
};

export class ThreadMcp {
  readonly #servers: ThreadServers | null;
  readonly #told = new Map<string, McpServerState | 'idle'>();
  readonly #warned = new Set<string>();
  /** `mcp_servers.ready` was emitted. */
  #complete = false;

  /** `servers` null: there are none. */
  constructor(servers: ThreadServers | null) {
    this.#servers = servers;
  }

  /** The tools of the servers, as of the moment they are asked for. */
  get tools(): ThreadServers | null {
    return this.#servers;
  }

  /** Starts the servers; tells what happens to them until the returned function is called. */
  beginTurn(turn: McpTurn): () => void {
    const servers = this.#servers;
    if (servers === null || servers.count === 0) {
      this.#warnAll(servers?.warnings ?? [], turn);
      this.#completeWith([], turn.emit);
      return () => {};
    }
    this.#warnAll(servers.warnings, turn);
    servers.recall(turn.history.flatMap(item => (item.type === 'function_call' ? [item.name] : [])));
    const end = servers.beginTurn(report => this.#tell(report, servers, turn));
    for (const report of servers.reports()) this.#tell(report, servers, turn);
    return () => {
      end();
      // Nobody is told of what happens between turns.
      this.#completeWith(servers.reports(), turn.emit);
    };
  }

  /** Waits until the first request may be made. An error ends the turn: a server that is required can't be used. */
  async ready(signal: AbortSignal): Promise<TurnError | null> {
    const missing = (await this.#servers?.ready(signal)) ?? [];
    if (missing.length === 0) return null;
    const list = missing.map(({ server, error }) => `${server}: ${error}`).join('; ');
    return { message: `required MCP servers failed to initialize: ${list}`, kind: 'configuration' };
  }

  #tell({ server, status }: ServerReport, servers: ThreadServers, turn: McpTurn): void {
    if (this.#told.get(server) !== status.state) {
      this.#told.set(server, status.state);
      if (status.state !== 'idle') {
        const error = status.state === 'failed' ? { error: status.error } : {};
        turn.emit({ type: 'mcp_server.updated', server, state: status.state, ...error });
      }
      if (status.state === 'failed') this.#warnAll([`MCP server \`${server}\` can't be used: ${status.error}`], turn);
    }
    const reports = servers.reports();
    if (reports.every(({ status }) => isSettled(status.state))) this.#completeWith(reports, turn.emit);
  }

  #completeWith(reports: readonly ServerReport[], emit: EventSink): void {
    if (this.#complete) return;
    this.#complete = true;
    emit({
      type: 'mcp_servers.ready',
      ready: reports.flatMap(({ server, status }) => (status.state === 'ready' ? [server] : [])),
      failed: reports.flatMap(({ server, status }) =>
        status.state === 'failed' ? [{ server, error: status.error }] : [],
      ),
      cancelled: reports.flatMap(({ server, status }) => (isSettled(status.state) ? [] : [server])),
    });
  }

  #warnAll(warnings: readonly string[], { warn }: McpTurn): void {
    for (const text of warnings) {
      if (this.#warned.has(text)) continue;
      this.#warned.add(text);
      warn(text);
    }
  }
}

function isSettled(state: ServerReport['status']['state']): boolean {
  return state === 'ready' || state === 'failed';
}
