/** One configured server over its whole life: started when it is needed, started again when it went away, and ended. */
import type { McpServerSettings } from '../protocol/index.js';
import { delay, messageOf, onAbort } from '../util/index.js';
import type { CallOutcome, CallRequest, Connection } from './connection.js';
import type { McpClientDeps } from './deps.js';
import type { Http } from './http-fetch.js';
import type { KnownServer, KnownTools } from './known-tools.js';
import { openConnection } from './open-connection.js';
import { Restarts } from './restarts.js';
import type { ServerTool } from './server-tool.js';

/** Unused for so long, a server is ended; the next use starts it again. */
const IDLE_MS = 15 * 60_000;
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
  readonly #restarts = new Restarts();
  readonly #known: Promise<KnownServer | null>;
  #status: ServerStatus = { state: 'idle' };
  #connection: Connection | null = null;
  #starting: Promise<void> | null = null;
  #tools: readonly ServerTool[] | null = null;
  #legacyOnly = false;
  #startedAt = 0;
  #startTookMs: number | null = null;
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
    return this.#connection === null && this.#restarts.failures > 0;
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
    if (this.#starting === null && !force && this.#restarts.pauseMs > 0) return Promise.resolve();
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
    const pause = this.#restarts.pauseMs;
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
    const { pauseMs, failures } = this.#restarts;
    const pause = Math.ceil(pauseMs / 1000);
    return pause > 0 ? `${why} (${failures} times in a row; it is started again in ${pause} s at the earliest)` : why;
  }

  async #start(): Promise<void> {
    this.#startedAt = performance.now();
    this.#set({ state: 'starting' });
    await this.recall();
    try {
      const { connection, tools, legacyOnly } = await openConnection({
        ...this.#options,
        legacyOnly: this.#legacyOnly,
        closing: this.#closing.signal,
        onToolsChanged: changed => this.#onToolsChanged(changed),
      });
      this.#connection = connection;
      this.#tools = tools;
      this.#legacyOnly = legacyOnly;
      this.#restarts.ready();
      this.#startTookMs = performance.now() - this.#startedAt;
      void connection.closed.then(end => this.#onClosed(connection, end));
      this.#set({ state: 'ready' });
      this.#remember(false);
    } catch (error) {
      this.#fail(messageOf(error));
      // A start that was cut short by our own end says nothing about the server.
      if (!this.#closing.signal.aborted) this.#remember(true);
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
    this.#restarts.failed();
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
    this.#restarts.failed();
    if (!this.#closing.signal.aborted) {
      // The turn that uses it warns of it.
      this.#options.deps.log('info', `MCP server \`${this.#options.settings.name}\` can't be used: ${error}`);
    }
    this.#set({ state: 'failed', error });
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

function failed(message: string): CallOutcome {
  return { type: 'failed', message, lost: false, repeatable: false };
}
