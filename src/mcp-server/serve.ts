import type { Readable, Writable } from 'node:stream';
import type { ThreadManager } from '../agent/index.js';
import type { Config } from '../config/index.js';
import { noTracer, stackOf, type Tracer, within } from '../util/index.js';
import type { CodexCall } from './arguments.js';
import { Connection } from './connection.js';
import { type Era, serverInfo } from './greeting.js';
import { LineReader, MAX_LINE_BYTES } from './line-reader.js';
import { LineWriter } from './line-writer.js';
import { errorResponse, INVALID_REQUEST } from './message.js';
import type { Session } from './session.js';
import type { ToolCalls } from './tool-calls.js';

/** When closing, a client that still reads gets this long to take what was written. */
const FLUSH_MS = 300;

export type ServeOptions = {
  /** All threads. Called before the first message is read, and again by calls after a failure; may load heavy code. */
  readonly threads: () => Promise<ThreadManager>;
  /** The configuration of a new thread. An error it throws is shown to the caller by its message. */
  readonly resolveConfig: (call: CodexCall) => Config | Promise<Config>;
  /** Version of the product. */
  readonly version: string;
  readonly input: Readable;
  /** Belongs to the protocol alone; see `reserveStdout`. */
  readonly output: Writable;
  /** One line for the operator (stderr). */
  readonly log: (message: string) => void;
  /** What the threads of a client without events warn of; default: `log`. */
  readonly warn?: (text: string) => void;
  readonly settings: Config['mcp_server'];
  /** Told of each call; default: nobody is. May load heavy code. */
  readonly tracer?: () => Promise<Tracer>;
  /** Signs what a client carries between two calls of one turn; default: random, good for this process. */
  readonly stateSecret?: Uint8Array;
};

export type McpServer = {
  /** Resolves when the client went away and what ran for it was interrupted. Never rejects. */
  readonly gone: Promise<void>;
  /** Stops serving: interrupts what runs and resolves like `gone`, within about two seconds. Idempotent. */
  close(): Promise<void>;
};

/** Serves one client until it goes away. The threads stay the caller's to close. */
export function serveMcp(options: ServeOptions): McpServer {
  const server = new Serving(options);
  return { gone: server.gone, close: () => server.close() };
}

type Heavy = { readonly calls: ToolCalls; openSession(era: Era): Session };

class Serving {
  readonly gone: Promise<void>;
  readonly #options: ServeOptions;
  readonly #writer: LineWriter;
  #reader: LineReader | null = null;
  readonly #connection: Connection;
  #threads: Promise<ThreadManager> | null = null;
  #heavy: Promise<Heavy> | null = null;
  #closing: Promise<void> | null = null;
  #resolveGone: () => void = () => {};

  constructor(options: ServeOptions) {
    this.#options = options;
    this.gone = new Promise(resolve => {
      this.#resolveGone = resolve;
    });
    this.#writer = new LineWriter({
      output: options.output,
      onGone: () => void this.close(),
      onFull: full => (full ? this.#reader?.pause() : this.#reader?.resume()),
    });
    this.#connection = new Connection({
      writer: this.#writer,
      version: options.version,
      log: options.log,
      openSession: async era => (await this.#load()).openSession(era),
    });
    // What can't be loaded is reported to the call that needs it.
    this.#loadAll().then(
      () => this.#read(),
      () => this.#read(),
    );
  }

  #read(): void {
    if (this.#closing) return;
    const tooLong = `The message is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB.`;
    this.#reader = new LineReader(this.#options.input, {
      onLine: line => this.#connection.receive(line),
      onOversized: () => this.#writer.send(errorResponse(null, INVALID_REQUEST, tooLong)),
      onEnd: () => void this.close(),
    });
  }

  /** Before the first message is read: a call right behind the greeting would wait for the same. */
  async #loadAll(): Promise<void> {
    await this.#load();
    await this.#loadThreads();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#reader?.close();
    try {
      const calls = this.#heavy && (await this.#heavy).calls;
      // Turns first: a session that closes would make open questions look answered.
      await calls?.close();
      await this.#connection.close();
      await within(this.#writer.flushed(), FLUSH_MS);
    } catch (error) {
      this.#options.log(`closing: ${stackOf(error)}`);
    }
    this.#resolveGone();
  }

  /** Loads the protocol library and what stands on it, once. */
  #load(): Promise<Heavy> {
    this.#heavy ??= this.#loadNow();
    return this.#heavy;
  }

  async #loadNow(): Promise<Heavy> {
    const { openSession, rehearse, ToolCalls } = await import('./heavy.js');
    const { version, log, warn = log, resolveConfig, settings, stateSecret, tracer } = this.#options;
    const calls = new ToolCalls({
      writer: this.#writer,
      threads: () => this.#loadThreads(),
      resolveConfig,
      settings,
      stateSecret,
      log,
      warn,
      tracer: tracer ?? (() => Promise.resolve(noTracer)),
    });
    await rehearse(serverInfo(version));
    return {
      calls,
      openSession: era =>
        openSession({
          era,
          info: serverInfo(version),
          send: message => this.#writer.sendMessage(message),
          log,
          legacyCapabilities: () => this.#connection.clientCapabilities,
          legacyVersion: () => this.#connection.protocolVersion,
          callTool: request => calls.call(request),
        }),
    };
  }

  #loadThreads(): Promise<ThreadManager> {
    this.#threads ??= this.#options.threads().catch((error: unknown) => {
      this.#threads = null;
      throw error;
    });
    return this.#threads;
  }
}
