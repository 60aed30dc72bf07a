/** Puts the agent together for a front door: sandbox, providers, grammar, index. */
import { type AgentDeps, createThreadManager, prepareTools, type ThreadManager } from '../agent/index.js';
import { createShellGrammarLoader } from '../approvals/index.js';
import { type Config, homeDir, type LoadOptions, restoreConfig } from '../config/index.js';
import type { ProviderSettings } from '../protocol/index.js';
import { createConnections, createProvider, modelInfo, preloadProvider, storedKey } from '../providers/index.js';
import type { Sandbox } from '../sandbox/index.js';
import { type Env, lazily, ownIdentity, packageVersion, type Tracer } from '../util/index.js';
import { runAuthCommand } from './auth-command.js';
import type { Log } from './log.js';
import { openSandbox } from './open-sandbox.js';
import { ripgrepFolder } from './ripgrep.js';
import { userShell } from './user-shell.js';

export type WiredAgent = {
  readonly threads: ThreadManager;
  readonly sandbox: Sandbox;
  readonly modelInfo: AgentDeps['modelInfo'];
  /** Does ahead what the first turn of a thread like this would wait for. Rejects where no such turn could run. */
  prepare(config: Config): Promise<void>;
  /** Ends all turns and commands; at most about a second and a half. */
  close(): Promise<void>;
};

export type WiringOptions = {
  readonly env: Env;
  /** What the key of a provider is read from, where that is not `env`. */
  readonly providerEnv?: (settings: ProviderSettings) => WiringOptions['env'];
  /** How configuration is loaded for a thread that is resumed. */
  readonly load: LoadOptions;
  readonly log: Log;
  readonly tracer: Tracer;
};

export function wireAgent({ env, providerEnv = () => env, load, log, tracer }: WiringOptions): WiredAgent {
  const home = homeDir(env);
  const sandbox = openSandbox(env, log);
  const connections = createConnections(env);
  const mcp = lazily(async () => {
    const { createMcpServers } = await import('../mcp-client/index.js');
    const program = process.argv[1] ?? null;
    return createMcpServers({ version: packageVersion(), home, env, runner: sandbox, log, program });
  });
  let ripgrep: string[] | null = null;
  const deps: AgentDeps = {
    version: packageVersion(),
    env,
    shell: userShell(env),
    // Looked up by the first command: it takes some milliseconds.
    extraPath: () => {
      ripgrep ??= ripgrepFolder();
      return ripgrep;
    },
    sandbox,
    grammar: createShellGrammarLoader(),
    createProvider: settings =>
      createProvider(settings, {
        env: providerEnv(settings),
        connections,
        storedKey: id => storedKey(home, id),
        runAuthCommand: runAuthCommand(sandbox, env),
        originator: env['CODEX_INTERNAL_ORIGINATOR_OVERRIDE'] ?? 'open_interpreter',
        version: packageVersion(),
      }),
    modelInfo: config =>
      modelInfo(config.model, config.provider, {
        ...(config.model_catalog_json === null ? {} : { catalogPath: config.model_catalog_json }),
        contextWindow: config.model_context_window,
      }),
    restoreConfig: stored => restoreConfig(load, stored),
    mcp: mcp.get,
    tracer,
    warn: (message, place) => log('warn', message, place),
  };
  const threads = createThreadManager(deps, home);
  return {
    threads,
    sandbox,
    modelInfo: deps.modelInfo,
    prepare: async config => {
      prepareTools(config, deps.modelInfo(config));
      // The lock of a thread names this process by it.
      ownIdentity();
      await preloadProvider(config.provider, connections);
    },
    close: async () => {
      await Promise.all([threads.close(), mcp.made()?.then(servers => servers.close())]);
      await sandbox.close();
      connections.close();
    },
  };
}
