/** What the command line gives the agent: everything that is not the agent's own business. */
import type { ShellGrammarLoader } from '../approvals/index.js';
import type { Config, StoredThread } from '../config/index.js';
import type { McpServers } from '../mcp-client/index.js';
import type { ModelInfo, Provider, ProviderSettings } from '../protocol/index.js';
import type { Sandbox } from '../sandbox/index.js';
import type { Env, Tracer } from '../util/index.js';

export type AgentDeps = {
  readonly version: string;
  /** Environment of the process; commands get a filtered copy. */
  readonly env: Env;
  /** Absolute path of the user's shell. */
  readonly shell: string;
  /** Folders put on the PATH of commands, behind what is there. */
  readonly extraPath: () => readonly string[];
  readonly sandbox: Sandbox;
  /** The shell grammar, loaded when a verdict first needs it. */
  readonly grammar: ShellGrammarLoader;
  readonly createProvider: (settings: ProviderSettings) => Provider;
  readonly modelInfo: (config: Config) => ModelInfo;
  /** The present configuration with what a thread was started with on top. Throws with a message for the caller. */
  readonly restoreConfig: (stored: StoredThread) => Config;
  /** Other people's MCP servers, loaded by the first thread that has some; absent = they are not used. */
  readonly mcp?: () => Promise<McpServers>;
  readonly tracer: Tracer;
  /** For the log of the process; not shown to models or callers. `place`: the thread and turn it is about. */
  readonly warn: (message: string, place?: { readonly thread?: string; readonly turn?: string }) => void;
};

/** The same, with lines of the log that say where they belong. */
export function placed(deps: AgentDeps, place: { thread: string; turn?: string }): AgentDeps {
  return { ...deps, warn: (message, more) => deps.warn(message, { ...place, ...more }) };
}
