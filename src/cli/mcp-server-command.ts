/** `interpreter mcp-server`: serves one client over stdin and stdout until it goes away. */
import { isAbsolute } from 'node:path';
import { type Config, ConfigCache, flattenCallConfig, type LoadOptions, loadConfig } from '../config/index.js';
import { type CodexCall, reserveStdout, serveMcp } from '../mcp-server/index.js';
import { lazily, packageVersion, stackOf, within } from '../util/index.js';
import type { WiredAgent } from './agent-wiring.js';
import type { Boot } from './boot/boot.js';
import { launchFolder } from './launch-folder.js';
import { createLog } from './log.js';
import type { ConfigFlags } from './options.js';

/** Everything has to be gone two seconds after the client; what hangs then is left to the operating system. */
const EXIT_AFTER_MS = 1900;
/** Of these, telemetry that was not sent yet gets so many at most. */
const TELL_MS = 800;

export async function runMcpServer(flags: ConfigFlags, boot: Boot): Promise<void> {
  const output = reserveStdout();
  const env = process.env;
  const log = createLog(env);
  const folder = launchFolder();
  const base: LoadOptions = {
    env,
    process_cwd: folder ?? '/',
    front_door: 'mcp-server',
    cache: new ConfigCache(),
    ...flags,
  };
  // Not every client shows what a call warns of.
  const tellWarnings = onceEach(warning => log('warn', warning));
  // A faulty configuration is told now, and not in the first call of somebody who can't see this terminal.
  const config = loadConfig(base);
  tellWarnings(config.warnings);
  if (config.log_dir !== null) log.keepIn(config.log_dir);
  const observation = lazily(async () => {
    const { observe } = await import('./observation.js');
    return observe({ config, env, service: 'codex_mcp_server', log });
  });
  let agent: WiredAgent | null = null;
  const wire = async () => {
    const [{ wireAgent }, { tracer }] = await Promise.all([import('./agent-wiring.js'), observation.get()]);
    if (agent !== null) return agent;
    agent = wireAgent({ env, load: base, log, tracer });
    // Why it can't be done is told by the call that needs it.
    await agent.prepare(config).catch(() => {});
    // Counted from the start of the process.
    const duration = Math.round(performance.now());
    tracer.event('codex.startup_phase', { phase: 'agent', status: 'ready', duration_ms: duration });
    return agent;
  };
  const server = serveMcp({
    threads: async () => (await wire()).threads,
    resolveConfig: call => {
      if (folder === null) needsFolder(call);
      const resolved = withoutTelemetry(loadConfig(callOptions(base, call)), call);
      tellWarnings(resolved.warnings);
      return resolved;
    },
    version: packageVersion(),
    input: process.stdin,
    output,
    log: message => log('warn', message),
    warn: text => tellWarnings([text]),
    settings: config.mcp_server,
    tracer: async () => (await observation.get()).tracer,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void server.close());
  process.on('exit', () => agent?.sandbox.killAllNow());
  guardAgainstFaults(message => log('error', message));
  saveCacheWhenIdle(boot);
  await server.gone;
  setTimeout(() => process.exit(0), EXIT_AFTER_MS).unref();
  const leftMs = deadline(EXIT_AFTER_MS - 200);
  await within(closeOf(agent), leftMs());
  const observed = observation.made();
  if (observed !== null) await within(closeOf(await observed, Math.min(TELL_MS, leftMs())), leftMs());
  process.exit(0);
}

/** Throws for a call that counts on the folder of the server when that is gone. */
function needsFolder({ cwd }: CodexCall): void {
  if (cwd !== undefined && (isAbsolute(cwd) || cwd.startsWith('~'))) return;
  throw new Error('The directory in which this server was started is gone. Pass `cwd`, an absolute path.');
}

/** Hands on each text of the lists once. */
function onceEach(tell: (text: string) => void): (texts: readonly string[]) => void {
  const told = new Set<string>();
  return texts => {
    for (const text of texts.filter(candidate => !told.has(candidate))) {
      told.add(text);
      tell(text);
    }
  };
}

async function closeOf(part: { close(ms: number): Promise<void> } | null, ms = 0): Promise<void> {
  await part?.close(ms);
}

/** Milliseconds that are left of `ms` from now on. */
function deadline(ms: number): () => number {
  const end = performance.now() + ms;
  return () => Math.max(0, end - performance.now());
}

/** One server has one telemetry; a call that asks for another is told instead of being followed in half. */
function withoutTelemetry(config: Config, call: CodexCall): Config {
  if (call.config?.['otel'] === undefined && !Object.keys(call.config ?? {}).some(key => key.startsWith('otel.'))) {
    return config;
  }
  const warning =
    '`otel` in the config of a call has no effect: telemetry belongs to the server. Set it in config.toml or with -c.';
  return { ...config, warnings: [...config.warnings, warning] };
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
  const tell = (what: string, error: unknown) => log(`${what}: ${stackOf(error)}`);
  process.on('uncaughtException', error => tell('uncaught exception', error));
  process.on('unhandledRejection', error => tell('unhandled rejection', error));
}

/** Compiled code is kept once the server has been useful for a while; it blocks for some milliseconds. */
function saveCacheWhenIdle(boot: Boot): void {
  setTimeout(() => boot.saveCodeCache(), 15_000).unref();
}
