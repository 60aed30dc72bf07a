/** The door of this room for the agent. */
import type { McpServerSettings } from '../protocol/index.js';
import type { McpClientDeps } from './deps.js';
import { admitServers } from './self-hosting.js';
import { ServerPool } from './server-pool.js';
import { ThreadServers } from './thread-servers.js';

export interface McpServers {
  /** The servers of a thread; nothing is started before its first turn. */
  forThread(settings: readonly McpServerSettings[], thread: { cwd: string; search: boolean }): ThreadServers;
  /** Ends all servers; at most about a second. */
  close(): Promise<void>;
}

export function createMcpServers(deps: McpClientDeps): McpServers {
  const pool = new ServerPool(deps);
  return {
    forThread: (settings, thread) => {
      const { admitted, warnings } = admitServers(settings, deps);
      return new ThreadServers(pool, { settings: admitted, warnings, ...thread });
    },
    close: () => pool.close(),
  };
}
