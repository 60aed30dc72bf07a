/** `interpreter mcp-server`: serves one client over stdin and stdout until it goes away. */
import { ConfigCache, flattenCallConfig, type LoadOptions, loadConfig } from '../config/index.js';
import { type CodexCall, reserveStdout, serveMcp } from '../mcp-server/index.js';
import { messageOf, packageVersion, within } from '../util/index.js';
import type { WiredAgent } from './agent-wiring.js';
import type { Boot } from './boot/boot.js';
import { createLog } from './log.js';
import type { ConfigFlags } from './options.js';

/** Everything has to be gone two seconds after the client; what hangs then is left to the operating system. */
const EXIT_AFTER_MS = 1900;

export async function runMcpServer(flags: ConfigFlags, boot: Boot): Promise<void> {
  const output = reserveStdout();
  const env = process.env;
  const log = createLog(env);
  const base: LoadOptions = {
    env,
    process_cwd: process.cwd(),
    front_door: 'mcp-server',
    cache: new ConfigCache(),
    ...flags,
  };
  // A faulty configuration is told now, and not in the first call of somebody who can't see this terminal.
  const { mcp_server: settings } = loadConfig(base);
  let agent: WiredAgent | null = null;
  const wire = async () => {
    const { wireAgent } = await import('./agent-wiring.js');
    agent ??= wireAgent({ env, load: base, log });
    return agent;
  };
  const server = serveMcp({
    threads: async () => (await wire()).threads,
    resolveConfig: call => loadConfig(callOptions(base, call)),
    version: packageVersion(),
    input: process.stdin,
    output,
    log: message => log('warn', message),
    settings,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void server.close());
  process.on('exit', () => agent?.sandbox.killAllNow());
  guardAgainstFaults(message => log('error', message));
  saveCacheWhenIdle(boot);
  await server.gone;
  setTimeout(() => process.exit(0), EXIT_AFTER_MS).unref();
  await within(closeOf(agent), EXIT_AFTER_MS - 200);
  process.exit(0);
}

async function closeOf(agent: WiredAgent | null): Promise<void> {
  await agent?.close();
}

function callOptions(base: LoadOptions, call: CodexCall): LoadOptions {
  const given = {
    model: call.model,
    sandbox: call.sandbox,
    approval_policy: call.approvalPolicy,
    base_instructions: call.baseInstructions,
    developer_instructions: call.developerInstructions,
    compact_prompt: call.compactPrompt,
  };
  return {
    ...base,
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    overrides: [...(base.overrides ?? []), ...(call.config ? flattenCallConfig(call.config) : [])],
    arguments: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

/** A fault of ours in one call must not end the others; the log has the stack. */
function guardAgainstFaults(log: (message: string) => void): void {
  const tell = (what: string, error: unknown) =>
    log(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`);
  process.on('uncaughtException', error => tell('uncaught exception', error));
  process.on('unhandledRejection', error => tell('unhandled rejection', error));
}

/** Compiled code is kept once the server has been useful for a while; it blocks for some milliseconds. */
function saveCacheWhenIdle(boot: Boot): void {
  setTimeout(() => boot.saveCodeCache(), 15_000).unref();
}
