/** All servers of this process. Threads with equal settings share them. */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { McpServerSettings } from '../protocol/index.js';
import { within } from '../util/index.js';
import type { McpClientDeps } from './deps.js';
import type { Http } from './http-fetch.js';
import { KnownTools } from './known-tools.js';
import { Server } from './server.js';

/** Servers that run although no turn uses them; with more, the one that was unused for longest is ended. */
const MAX_UNUSED = 20;
const CLOSE_MS = 1200;

export class ServerPool {
  readonly #deps: McpClientDeps;
  readonly #servers = new Map<string, Server>();
  /** In the order in which they fell idle. */
  readonly #unused = new Set<Server>();
  readonly #known: KnownTools;
  #http: Promise<Http> | null = null;

  constructor(deps: McpClientDeps) {
    this.#deps = deps;
    this.#known = new KnownTools(deps.home, deps.log);
  }

  /**
   * The server with these settings. A process runs in the folder of its settings, else in that of its thread, and is
   * shared by threads in the same folder.
   */
  server(settings: McpServerSettings, cwd: string): Server {
    const { name, transport, startup_timeout_ms } = settings;
    const place = transport.type === 'stdio' && transport.cwd === undefined ? cwd : null;
    const key = JSON.stringify([name, transport, startup_timeout_ms, place]);
    let server = this.#servers.get(key);
    if (server === undefined) {
      server = new Server({
        settings,
        cwd,
        roots: rootsOf(transport, cwd),
        deps: this.#deps,
        http: () => this.#openHttp(),
        known: this.#known,
        onUse: (one, isUsed) => this.#onUse(one, isUsed),
      });
      this.#servers.set(key, server);
    }
    return server;
  }

  async close(): Promise<void> {
    const closed = Promise.all([...this.#servers.values()].map(server => server.close()));
    await within(closed, CLOSE_MS);
    await within(this.#known.flushed(), CLOSE_MS / 4);
    (await this.#http?.catch(() => null))?.close();
  }

  #onUse(server: Server, isUsed: boolean): void {
    this.#unused.delete(server);
    if (isUsed) return;
    this.#unused.add(server);
    const [oldest] = this.#unused;
    if (this.#unused.size <= MAX_UNUSED || oldest === undefined) return;
    this.#unused.delete(oldest);
    void oldest.rest();
  }

  #openHttp(): Promise<Http> {
    this.#http ??= import('./http-fetch.js').then(({ openHttp }) => openHttp(this.#deps.env));
    return this.#http;
  }
}

/**
 * The folders a server is told about: those that its arguments name, because somebody chose them, else the thread's.
 * Servers over HTTP can't see our files and learn nothing about them.
 */
function rootsOf(transport: McpServerSettings['transport'], cwd: string): string[] {
  if (transport.type !== 'stdio') return [];
  const folders = transport.args.filter(word => path.isAbsolute(word) && isFolder(word));
  return folders.length > 0 ? folders : [path.resolve(cwd, transport.cwd ?? '')];
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
