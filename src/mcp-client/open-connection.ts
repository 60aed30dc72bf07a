/** A start of a server: its transport, the handshake in the era it knows, its tools, all within its time limit. */
import type { McpServerSettings } from '../protocol/index.js';
import { onAbort } from '../util/index.js';
import { Connection } from './connection.js';
import type { McpClientDeps } from './deps.js';
import type { Http } from './http-fetch.js';
import { openTransport } from './open-transport.js';
import type { ServerTool } from './server-tool.js';

export type OpenOptions = {
  readonly settings: McpServerSettings;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly deps: McpClientDeps;
  readonly http: () => Promise<Http>;
  /** It is known to end itself when it is asked for the newer protocol. */
  readonly legacyOnly: boolean;
  /** The agent is shutting down. */
  readonly closing: AbortSignal;
  readonly onToolsChanged: (tools: ServerTool[]) => void;
};

/** `legacyOnly`: as given, or as it turned out. */
export type Opened = {
  readonly connection: Connection;
  readonly tools: ServerTool[];
  readonly legacyOnly: boolean;
};

/** Rejects with the reason, in words for models and people. */
export async function openConnection(options: OpenOptions): Promise<Opened> {
  const { settings, legacyOnly, closing } = options;
  const limit = AbortSignal.timeout(settings.startup_timeout_ms);
  const signal = AbortSignal.any([limit, closing]);
  try {
    return await connect(options, legacyOnly ? 'legacy' : 'auto', signal);
  } catch (error) {
    if (closing.aborted) throw new Error('the agent is shutting down', { cause: error });
    if (!limit.aborted) throw error;
    const words =
      error instanceof StartError && error.lastWords !== '' ? `; its log ends with: ${error.lastWords}` : '';
    throw new Error(`it was not ready within ${settings.startup_timeout_ms / 1000} s (startup_timeout_sec)${words}`, {
      cause: error,
    });
  }
}

/** Some servers end themselves at a question that came before `initialize`: they are started a second time. */
async function connect(options: OpenOptions, era: 'auto' | 'legacy', signal: AbortSignal): Promise<Opened> {
  const { settings, deps, roots, onToolsChanged } = options;
  const transport = await openTransport(options);
  const stopListening = onAbort(signal, () => void transport.transport.close());
  // Loaded while the server starts.
  const sdk = await import('./sdk.js');
  try {
    const opened = await Connection.open({ settings, deps, sdk, transport, era, roots, signal, onToolsChanged });
    return { ...opened, legacyOnly: era === 'legacy' };
  } catch (error) {
    if (era === 'auto' && !signal.aborted && isWorthAnotherTry(error, transport.end())) {
      return await connect(options, 'legacy', signal);
    }
    const end = transport.end();
    const { explainFailure } = await import('./explain-failure.js');
    const { message } = explainFailure(error, { sdk, name: settings.name, end });
    throw new StartError(message, transport.lastWords(), { cause: error });
  } finally {
    stopListening();
  }
}

class StartError extends Error {
  /** The last line of the server's log; "" where there is none. */
  readonly lastWords: string;
  constructor(message: string, lastWords: string, options: ErrorOptions) {
    super(message, options);
    this.lastWords = lastWords;
  }
}

function isWorthAnotherTry(error: unknown, end: string | null): boolean {
  if (end !== null) return true;
  // The probe was not answered at all over HTTP, or not in a way that tells an era.
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'REQUEST_TIMEOUT' || error.code === 'ERA_NEGOTIATION_FAILED')
  );
}
