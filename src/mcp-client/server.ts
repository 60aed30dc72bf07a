/** One configured server over its whole life: started when it is needed, started again when it went away, and ended. */
import type { McpServerSettings } from '../protocol/index.js';
import { delay, messageOf, onAbort } from '../util/index.js';
import { type CallOutcome, type CallRequest, Connection } from './connection.js';
import type { McpClientDeps } from './deps.js';
import type { Http } from './http-fetch.js';
import type { KnownServer, KnownTools } from './known-tools.js';
import { openTransport } from './open-transport.js';
import type { ServerTool } from './server-tool.js';

/** Unused for so long, a server is ended; the next use starts it again. */
const IDLE_MS = 15 * 60_000;
/** A server that lived for so long was healthy: what failed before is forgotten. */
const HEALTHY_MS = 10_000;
/** The first new start is at once; then 0.5 s, 1 s, 2 s … */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** A call waits for the end of a pause up to this; otherwise it fails at once. */
const PATIENCE_MS = 1000;

export type ServerStatus =
  /** Not running; started at the next use. */
  | { readonly state: 'idle' }
  | { readonly state: 'starting' }
  | { readonly state: 'ready' }
  | { readonly state: 'failed'; readonly error: string };

export type ServerOptions = {
  readonly settings: McpServerSettings;
  /** Of the threads that share it. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly deps: McpClientDeps;
  readonly http: () => Promise<Http>;
  /** What earlier processes have learnt about this server. */
  readonly known: KnownTools;
  /** Called when nobody uses it any more, and when somebody does again. */
  readonly onUse: (server: Server, isUsed: boolean) => void;
};

/** A call as a tool makes it: by name, because the list may have changed meanwhile. */
export type ServerCall = Omit<CallRequest, 'tool'> & {
  readonly name: string;
  /** Says no to a tool that is no longer what it was judged by. */
  readonly accept: (tool: ServerTool) => string | null;
};

export class Server {
  readonly #options: ServerOptions;
  readonly #listeners = new Set<(status: ServerStatus) => void>();
  readonly #closing = new AbortController();
  readonly #known: Promise<KnownServer | null>;
  #status: ServerStatus = { state: 'idle' };
  #connection: Connection | null = null;
  #starting: Promise<void> | null = null;
  #tools: readonly ServerTool[] | null = null;
  #legacyOnly = false;
  #failures = 0;
  #notBefore = 0;
  #startedAt = 0;
  #startTookMs: number | null = null;
  /** When the last good start was over; null after a failure. */
  #readySince: number | null = null;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#known = options.known.read(options.settings, options.cwd);
  }

  get status(): ServerStatus {
    return this.#status;
  }

  /** As listed by the server, or as remembered while it starts; null = nothing is known yet. */
  get tools(): readonly ServerTool[] | null {
    return this.#status.state === 'failed' ? null : this.#tools;
  }

  /** Milliseconds since the start under way began; what the last good one took; null = there was none. */
  get startMs(): number | null {
    return this.#status.state === 'starting' ? performance.now() - this.#startedAt : this.#startTookMs;
  }

  /** Whether it failed or ended early the last time. */
  get isFailing(): boolean {
    return this.#connection === null && this.#failures > 0;
  }

  /** Resolves with what is remembered about it; afterwards `tools` shows the tools of that. */
  async recall(): Promise<KnownServer | null> {
    const known = await this.#known;
    if (known !== null) {
      this.#tools ??= known.failed ? null : known.tools;
      this.#legacyOnly ||= known.legacy;
    }
    return known;
  }

  subscribe(listener: (status: ServerStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** While somebody uses it, it is not ended for idleness. */
  use(): () => void {
    if (this.#users++ === 0) this.#options.onUse(this, true);
    clearTimeout(this.#idle);
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      if (--this.#users > 0 || this.#closing.signal.aborted) return;
      this.#options.onUse(this, false);
      this.#idle = setTimeout(() => void this.rest(), IDLE_MS);
      this.#idle.unref();
    };
  }

  /**
   * Makes sure that it runs, or is being started; resolves when the start is over, well or badly. After failures a
   * pause has to be over first, except with `force`.
   */
  start(force = false): Promise<void> {
    if (this.#connection !== null || this.#closing.signal.aborted) return Promise.resolve();
    if (this.#starting === null && !force && performance.now() < this.#notBefore) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  /** Never rejects. */
  async call(call: ServerCall): Promise<CallOutcome> {
    const leave = this.use();
    try {
      const outcome = await this.#callOnce(call);
      if (outcome.type === 'failed' && outcome.repeatable && !call.signal.aborted) return await this.#callOnce(call);
      return outcome;
    } finally {
      leave();
    }
  }

  /** Ends it for good; at most about a second. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#idle);
    await this.#starting;
    await this.#connection?.close();
  }

  async #callOnce(call: ServerCall): Promise<CallOutcome> {
    await this.#awaken(call.signal);
    if (call.signal.aborted) return { type: 'interrupted' };
    const connection = this.#connection;
    if (connection === null) return failed(this.#whyNot());
    const tool = this.#tools?.find(one => one.name === call.name);
    if (tool === undefined) return failed(`it has no tool ${call.name} any more`);
    const refusal = call.accept(tool);
    if (refusal !== null) return failed(refusal);
    const outcome = await connection.call({ ...call, tool });
    // A process that ended has closed its connection itself.
    const isHttp = this.#options.settings.transport.type === 'http';
    if (outcome.type === 'failed' && outcome.lost && isHttp) await this.#drop(connection);
    return outcome;
  }

  /** Waits for a start, and for a short pause before it. */
  async #awaken(signal: AbortSignal): Promise<void> {
    const pause = this.#notBefore - performance.now();
    if (this.#connection === null && this.#starting === null && pause > 0 && pause <= PATIENCE_MS) {
      await delay(pause, signal);
    }
    let stopListening = () => {};
    const interrupted = new Promise<void>(resolve => {
      stopListening = onAbort(signal, resolve);
    });
    await Promise.race([this.start(), interrupted]);
    stopListening();
  }

  #whyNot(): string {
    if (this.#closing.signal.aborted) return 'it is being ended';
    const why = this.#status.state === 'failed' ? this.#status.error : 'it is not running';
    const pause = Math.ceil((this.#notBefore - performance.now()) / 1000);
    return pause > 0
      ? `${why} (${this.#failures} times in a row; it is started again in ${pause} s at the earliest)`
      : why;
  }

  async #start(): Promise<void> {
    this.#startedAt = performance.now();
    this.#set({ state: 'starting' });
    await this.recall();
    try {
      const { connection, tools } = await this.#open();
      this.#connection = connection;
      this.#tools = tools;
      this.#readySince = performance.now();
      this.#startTookMs = this.#readySince - this.#startedAt;
      void connection.closed.then(end => this.#onClosed(connection, end));
      this.#set({ state: 'ready' });
      this.#remember(false);
    } catch (error) {
      this.#fail(messageOf(error));
      // A start that was cut short by our own end says nothing about the server.
      if (!this.#closing.signal.aborted) this.#remember(true);
    }
  }

  async #open(): Promise<{ connection: Connection; tools: ServerTool[] }> {
    const { settings } = this.#options;
    const limit = AbortSignal.timeout(settings.startup_timeout_ms);
    const signal = AbortSignal.any([limit, this.#closing.signal]);
    try {
      if (this.#legacyOnly) return await this.#connect('legacy', signal);
      return await this.#connect('auto', signal);
    } catch (error) {
      if (this.#closing.signal.aborted) throw new Error('the agent is shutting down', { cause: error });
      if (!limit.aborted) throw error;
      const words =
        error instanceof StartError && error.lastWords !== '' ? `; its log ends with: ${error.lastWords}` : '';
      throw new Error(`it was not ready within ${settings.startup_timeout_ms / 1000} s (startup_timeout_sec)${words}`, {
        cause: error,
      });
    }
  }

  /** Some servers end themselves at a question that came before `initialize`: they are started a second time. */
  async #connect(
    era: 'auto' | 'legacy',
    signal: AbortSignal,
  ): Promise<{ connection: Connection; tools: ServerTool[] }> {
    const { settings, cwd, deps, http, roots } = this.#options;
    const transport = await openTransport({ settings, cwd, deps, http });
    const stopListening = onAbort(signal, () => void transport.transport.close());
    // Loaded while the server starts.
    const sdk = await import('./sdk.js');
    try {
      return await Connection.open({
        settings,
        deps,
        sdk,
        transport,
        era,
        roots,
        signal,
        onToolsChanged: tools => this.#onToolsChanged(tools),
      });
    } catch (error) {
      if (era === 'auto' && !signal.aborted && isWorthAnotherTry(error, transport.end())) {
        const opened = await this.#connect('legacy', signal);
        this.#legacyOnly = true;
        return opened;
      }
      const end = transport.end();
      const { explainFailure } = await import('./explain-failure.js');
      const { message } = explainFailure(error, { sdk, name: settings.name, end });
      throw new StartError(message, transport.lastWords(), { cause: error });
    } finally {
      stopListening();
    }
  }

  #onToolsChanged(tools: ServerTool[]): void {
    this.#tools = tools;
    this.#remember(false);
    for (const listener of this.#listeners) listener(this.#status);
  }

  #onClosed(connection: Connection, end: string | null): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    if (this.#closing.signal.aborted) return;
    this.#options.deps.log(
      'warn',
      `MCP server \`${this.#options.settings.name}\`: ${end ?? 'the connection was closed'}.`,
    );
    this.#countFailure();
    // Its tools stay known: the next use starts it again.
    this.#set({ state: 'idle' });
  }

  /** A connection that is of no use any more. */
  async #drop(connection: Connection): Promise<void> {
    if (this.#connection === connection) {
      this.#connection = null;
      this.#set({ state: 'idle' });
    }
    await connection.close();
  }

  /** Ends it for now, unless somebody uses it. */
  async rest(): Promise<void> {
    const connection = this.#connection;
    if (this.#users > 0 || connection === null) return;
    this.#options.deps.log('info', `MCP server \`${this.#options.settings.name}\` is not used and is ended for now.`);
    await this.#drop(connection);
  }

  #fail(error: string): void {
    this.#countFailure();
    if (!this.#closing.signal.aborted) {
      // The turn that uses it warns of it.
      this.#options.deps.log('info', `MCP server \`${this.#options.settings.name}\` can't be used: ${error}`);
    }
    this.#set({ state: 'failed', error });
  }

  /** Sets the pause before the next start. The failures before a time in which all was well are forgotten. */
  #countFailure(): void {
    const wasHealthy = this.#readySince !== null && performance.now() - this.#readySince >= HEALTHY_MS;
    this.#readySince = null;
    this.#failures = wasHealthy ? 1 : this.#failures + 1;
    const pause = this.#failures < 2 ? 0 : FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 2, 10);
    this.#notBefore = performance.now() + Math.min(pause, LONGEST_PAUSE_MS);
  }

  #set(status: ServerStatus): void {
    this.#status = status;
    for (const listener of this.#listeners) listener(status);
  }

  #remember(isFailed: boolean): void {
    const { settings, cwd, known } = this.#options;
    known.write(settings, cwd, {
      tools: isFailed ? [] : (this.#tools ?? []),
      failed: isFailed,
      legacy: this.#legacyOnly,
    });
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

function failed(message: string): CallOutcome {
  return { type: 'failed', message, lost: false, repeatable: false };
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
