/** All threads of this process: makes them, finds them in memory or on disk, ends them. */
import type { Config } from '../config/index.js';
import { isThreadId, type ThreadRecord } from '../rollout/index.js';
import { messageOf } from '../util/index.js';
import { AgentThread, type AgentThreadOptions } from './agent-thread.js';
import type { AgentDeps } from './deps.js';
import { newId } from './ids.js';
import { readThread } from './read-thread.js';
import { storedThread, withStoredInstructions, withStoredLimits } from './stored-settings.js';
import { type Thread, type ThreadManager, ThreadUnavailableError } from './thread.js';

/** Threads whose history stays in memory between turns; that of others is read again when they go on. */
const WARM_THREADS = 32;

/** `home`: where threads are looked for that are not in memory. */
export function createThreadManager(deps: AgentDeps, home: string): ThreadManager {
  return new Manager(deps, home);
}

class Manager implements ThreadManager {
  readonly #deps: AgentDeps;
  readonly #home: string;
  /** By id. Promises, so that two callers of one thread on disk get the same object. */
  readonly #threads = new Map<string, Promise<AgentThread>>();
  /** Those that hold their history, the one that was asked for last at the end. */
  readonly #warm = new Set<AgentThread>();

  constructor(deps: AgentDeps, home: string) {
    this.#deps = deps;
    this.#home = home;
  }

  async startThread(config: Config, source: string, forkOf?: string): Promise<Thread> {
    const parent = forkOf === undefined ? undefined : await this.#read(forkOf);
    const id = newId();
    const thread = await this.#make({
      id,
      config: parent ? withStoredInstructions(config, parent) : config,
      source,
      ...(parent ? { forked: parent } : {}),
    });
    this.#threads.set(id, Promise.resolve(thread));
    this.#touch(thread);
    return thread;
  }

  async getThread(id: string, config?: Config): Promise<Thread> {
    const known = this.#threads.get(id);
    const loading = known ?? this.#load(id, config);
    this.#threads.set(id, loading);
    try {
      const thread = await loading;
      this.#touch(thread);
      return thread;
    } catch (error) {
      this.#threads.delete(id);
      throw error;
    }
  }

  /** A server lives for weeks and sees thousands of threads: those that nobody continues let go of their history. */
  #touch(thread: AgentThread): void {
    this.#warm.delete(thread);
    this.#warm.add(thread);
    for (const oldest of this.#warm) {
      if (this.#warm.size <= WARM_THREADS) return;
      if (oldest !== thread && oldest.rest()) this.#warm.delete(oldest);
    }
  }

  async close(): Promise<void> {
    const threads = await Promise.allSettled(this.#threads.values());
    await Promise.all(threads.flatMap(thread => (thread.status === 'fulfilled' ? [thread.value.close()] : [])));
  }

  async #read(id: string): Promise<ThreadRecord> {
    if (!isThreadId(id))
      throw new ThreadUnavailableError('not_found', `No thread has the id ${id}: it is no thread id.`);
    return readThread(this.#home, id);
  }

  async #load(id: string, given: Config | undefined): Promise<AgentThread> {
    const record = await this.#read(id);
    const config = given ? withStoredInstructions(given, record) : this.#storedConfig(id, record);
    return this.#make({ id, config, source: record.meta.source, restored: record });
  }

  async #make(options: Omit<AgentThreadOptions, 'deps' | 'servers'>): Promise<AgentThread> {
    const { mcp_servers, cwd, features } = options.config;
    const mcp = mcp_servers.length === 0 ? null : await this.#deps.mcp?.();
    const servers = mcp?.forThread(mcp_servers, { cwd, search: features.tool_search }) ?? null;
    return new AgentThread({ ...options, deps: this.#deps, servers });
  }

  #storedConfig(id: string, record: ThreadRecord): Config {
    try {
      return withStoredLimits(this.#deps.restoreConfig(storedThread(record)), record);
    } catch (error) {
      throw new ThreadUnavailableError('unreadable', `Thread ${id} can't be continued: ${messageOf(error)}`);
    }
  }
}
