/** The servers of one thread: started when it first runs, watched while a turn runs. */
import type { McpServerSettings, ToolSpec } from '../protocol/index.js';
import type { Tool } from '../tools/index.js';
import { delay, onAbort } from '../util/index.js';
import { OfferedTools, type ThreadServer } from './offered-tools.js';
import type { ServerStatus } from './server.js';
import type { ServerPool } from './server-pool.js';
import { serverLabels } from './tool-names.js';

/** The first request waits for servers about which nothing is known, up to this. */
const GRACE_MS = 2000;
/** Once one is ready, the others get half as long again as it took, and this at least. */
const STRAGGLER_MS = 200;
/** Servers whose tools are remembered are started when the first request is on its way. */
const OTHERS_AFTER_MS = 50;
/** A search waits for servers that start, up to this. */
const SEARCH_WAIT_MS = 30_000;

export type ThreadServersOptions = {
  readonly settings: readonly McpServerSettings[];
  /** What to say about servers that are left out. */
  readonly warnings: readonly string[];
  /** The thread's working directory. */
  readonly cwd: string;
  /** Feature `tool_search`. */
  readonly search: boolean;
};

export type ServerReport = { readonly server: string; readonly status: ServerStatus };

export class ThreadServers {
  /** Told once. */
  readonly warnings: readonly string[];
  readonly #servers: readonly ThreadServer[];
  readonly #offered: OfferedTools;
  /** Servers that some request has already waited for. */
  readonly #awaited = new Set<ThreadServer>();
  /** Those of this turn about which nothing is known. */
  #unknown: Promise<readonly ThreadServer[]> = Promise.resolve([]);
  #others: NodeJS.Timeout | undefined;

  constructor(pool: ServerPool, { settings, warnings, cwd, search }: ThreadServersOptions) {
    const labels = serverLabels(settings.map(({ name }) => name));
    this.warnings = warnings;
    this.#servers = settings.map((one, i) => ({
      settings: one,
      label: labels[i] ?? one.name,
      server: pool.server(one, cwd),
    }));
    this.#offered = new OfferedTools({
      servers: this.#servers,
      search,
      settle: signal => this.#settle(signal),
    });
  }

  get count(): number {
    return this.#servers.length;
  }

  /** How each of them stands. */
  reports(): ServerReport[] {
    return this.#servers.map(({ settings, server }) => ({ server: settings.name, status: server.status }));
  }

  /**
   * Starts what the first request has to wait for. `listener` hears of every change until the returned function is
   * called.
   */
  beginTurn(listener: (report: ServerReport) => void): () => void {
    const ends = this.#servers.flatMap(({ settings, server }) => {
      const unsubscribe = server.subscribe(status => listener({ server: settings.name, status }));
      return [unsubscribe, server.use()];
    });
    this.#unknown = Promise.all(this.#servers.map(one => startIfNeeded(one))).then(needed =>
      this.#servers.filter((_, i) => needed[i]),
    );
    return () => {
      clearTimeout(this.#others);
      for (const end of ends) end();
    };
  }

  /**
   * Waits until the tools of the first request are known: for required servers until they are ready or have failed, for
   * others a short while, and not at all for those that are remembered from earlier, which are started afterwards.
   * Returns the required servers that are not ready, with the reason.
   */
  async ready(signal: AbortSignal): Promise<{ server: string; error: string }[]> {
    const required = this.#servers.filter(({ settings }) => settings.required);
    const unknown = (await this.#unknown).filter(one => !this.#awaited.has(one));
    for (const one of unknown) this.#awaited.add(one);
    await Promise.all([this.#grace(unknown, signal), this.#wait(required, signal)]);
    this.#others = setTimeout(() => this.#startOthers(), OTHERS_AFTER_MS);
    this.#others.unref();
    return required.flatMap(({ settings, server }) => {
      if (server.status.state === 'ready' || signal.aborted) return [];
      const error = server.status.state === 'failed' ? server.status.error : 'it ended right after its start';
      return [{ server: settings.name, error }];
    });
  }

  specs(): ToolSpec[] {
    return this.#offered.specs();
  }

  names(): string[] {
    return this.#offered.names();
  }

  find(name: string): Tool | undefined {
    return this.#offered.find(name);
  }

  /** Names of tools that the thread has used before. */
  recall(names: Iterable<string>): void {
    this.#offered.recall(names);
  }

  #startOthers(): void {
    for (const { server } of this.#servers) void server.start();
  }

  async #grace(unknown: readonly ThreadServer[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const limit = graceLimit(unknown);
      const ages = unknown.flatMap(({ server }) => (server.status.state === 'starting' ? [server.startMs ?? 0] : []));
      const left = limit - Math.min(...ages);
      if (ages.length === 0 || left <= 0) return;
      await this.#nextChange(unknown, left, signal);
    }
  }

  /** Resolves at the next change of one of these servers, or when the time is over. */
  async #nextChange(servers: readonly ThreadServer[], ms: number, signal: AbortSignal): Promise<void> {
    const changed = new AbortController();
    const stop = onAbort(signal, () => changed.abort());
    const ends = servers.map(({ server }) => server.subscribe(() => changed.abort()));
    await delay(ms, changed.signal);
    stop();
    for (const end of ends) end();
  }

  async #wait(servers: readonly ThreadServer[], signal: AbortSignal): Promise<void> {
    for (const { server } of servers) {
      while (server.status.state === 'starting' && !signal.aborted) {
        await this.#nextChange([{ server } as ThreadServer], SEARCH_WAIT_MS, signal);
      }
    }
  }

  async #settle(signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_WAIT_MS)]);
    await this.#wait(
      this.#servers.filter(({ server }) => server.tools === null),
      limit,
    );
  }
}

/** True when the first request has to know more about this server than is known. */
async function startIfNeeded({ settings, server }: ThreadServer): Promise<boolean> {
  // Also one that failed before: somebody depends on it.
  if (settings.required) void server.start(true);
  const known = await server.recall();
  if (known !== null || server.isFailing) return false;
  void server.start();
  return true;
}

/** How long a server may have been starting until it is no longer waited for, milliseconds. */
function graceLimit(servers: readonly ThreadServer[]): number {
  const taken = servers.flatMap(({ server }) => (server.status.state === 'ready' ? [server.startMs ?? 0] : []));
  if (taken.length === 0) return GRACE_MS;
  const longest = Math.max(...taken);
  return Math.min(GRACE_MS, Math.max(1.5 * longest, longest + STRAGGLER_MS));
}
