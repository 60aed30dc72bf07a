import type { Thread, ThreadManager } from '../agent/index.js';
import type { Config } from '../config/index.js';
import { messageOf, onAbort, stackOf, type Tracer, within } from '../util/index.js';
import { ArgumentError, type CodexCall, parseCodexCall, parseReplyCall } from './arguments.js';
import { askByElicitation } from './elicited-approver.js';
import { EventStream } from './event-stream.js';
import type { LineWriter } from './line-writer.js';
import type { JsonObject } from './message.js';
import { ParkableTurn } from './parked-turn.js';
import { Parking } from './parking.js';
import { Progress } from './progress.js';
import { RunningTurn } from './running-turn.js';
import { CODEX, CODEX_REPLY } from './tool-definitions.js';
import { type LegacyClient, type ModernClient, RequestError, type ToolRequest } from './tool-request.js';
import { refusal, turnResult } from './tool-result.js';
import { tracedCall } from './traced-call.js';

/** Turns that are told to stop are waited for this long when the client went away. */
const CLOSE_MS = 1_500;
/** The longest time a timer takes, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type ToolCallsOptions = {
  readonly writer: LineWriter;
  readonly threads: () => Promise<ThreadManager>;
  readonly resolveConfig: (call: CodexCall) => Config | Promise<Config>;
  readonly settings: McpServerSettings;
  readonly stateSecret?: Uint8Array | undefined;
  readonly log: (message: string) => void;
  /** What threads warn of whose client gets no events. */
  readonly warn: (text: string) => void;
  readonly tracer: () => Promise<Tracer>;
};

/** `[mcp_server]`: what holds for every call of this server. */
export type McpServerSettings = Config['mcp_server'];

/** Carries out the two tools. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #parking: Parking;
  readonly #approvalTimeoutMs: number;
  readonly #running = new Set<RunningTurn>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    const { approval_timeout_ms, thread_id_text } = options.settings;
    this.#approvalTimeoutMs = Math.min(approval_timeout_ms, MAX_TIMER_MS);
    this.#parking = new Parking({
      secret: options.stateSecret,
      timeoutMs: this.#approvalTimeoutMs,
      threadIdText: thread_id_text,
    });
  }

  /** Throws RequestError for errors that are the client's; everything else becomes a result with `isError`. */
  async call(request: ToolRequest): Promise<JsonObject> {
    const token = request.progressToken;
    const progress = token === null ? null : new Progress({ token, writer: this.#options.writer, message: 'starting' });
    // What is sent about a cancelled request only confuses its client.
    const stop = onAbort(request.signal, () => void progress?.end());
    try {
      return await tracedCall(await this.#options.tracer(), request, below => this.#answer(below, progress));
    } catch (error) {
      if (error instanceof RequestError) throw error;
      if (error instanceof CallerError || error instanceof ArgumentError) return refusal(error.message);
      this.#options.log(`${request.tool}: ${stackOf(error)}`);
      return refusal(`Internal error: ${messageOf(error)}`);
    } finally {
      stop();
      await progress?.end();
    }
  }

  /** Interrupts everything that runs. Resolves when it has ended, at the latest after about a second. */
  async close(): Promise<void> {
    this.#parking.close();
    const running = [...this.#running];
    for (const turn of running) turn.abort();
    await within(Promise.allSettled(running.map(turn => turn.finished)), CLOSE_MS);
  }

  async #answer(request: ToolRequest, progress: Progress | null): Promise<JsonObject> {
    const { client } = request;
    switch (request.tool) {
      case CODEX:
      case CODEX_REPLY:
        break;
      default:
        throw new CallerError(`Unknown tool '${request.tool}'. The tools are \`${CODEX}\` and \`${CODEX_REPLY}\`.`);
    }
    if (client.era === 'legacy') return this.#legacyCall({ ...request, client }, progress);
    return this.#modernCall({ ...request, client }, progress);
  }

  async #legacyCall(request: ToolRequest & { client: LegacyClient }, progress: Progress | null): Promise<JsonObject> {
    const start = await this.#prepare(request);
    if ('refused' in start) return start.refused;
    const { thread, prompt } = start;
    const { writer, settings, log, warn } = this.#options;
    const wantsEvents = settings.events === 'codex';
    const asking = { client: request.client, callId: request.id, timeoutMs: this.#approvalTimeoutMs };
    const turn = this.#track(
      new RunningTurn({
        thread,
        prompt,
        trace: request.trace,
        ask: (question, signal) => askByElicitation(asking, question, signal),
        events: wantsEvents ? new EventStream({ threadId: thread.id, requestId: request.id, writer }) : null,
        log,
        warn,
      }),
    );
    turn.report(progress);
    const stop = onAbort(request.signal, () => turn.abort());
    try {
      return turnResult(await turn.finished, settings.thread_id_text);
    } finally {
      stop();
    }
  }

  async #modernCall(request: ToolRequest & { client: ModernClient }, progress: Progress | null): Promise<JsonObject> {
    if (this.#parking.isRetry(request)) return this.#parking.resume(request, progress);
    const start = await this.#prepare(request);
    if ('refused' in start) return start.refused;
    const parkable = new ParkableTurn();
    const turn = this.#track(
      new RunningTurn({
        thread: start.thread,
        prompt: start.prompt,
        trace: request.trace,
        ask: (question, signal) => parkable.ask(question, signal),
        events: null,
        log: this.#options.log,
        warn: this.#options.warn,
      }),
    );
    return this.#parking.wait({ turn, parkable }, request, progress);
  }

  /** Checks the arguments and finds or makes the thread. */
  async #prepare(request: ToolRequest): Promise<{ thread: Thread; prompt: string } | { refused: JsonObject }> {
    if (request.tool === CODEX) {
      const call = parseCodexCall(request.arguments);
      return { thread: await this.#startThread(call), prompt: call.prompt };
    }
    const { threadId, prompt } = parseReplyCall(request.arguments);
    const refused = this.#parking.blocked(threadId);
    if (refused) return { refused };
    return { thread: await this.#findThread(threadId), prompt };
  }

  async #startThread(call: CodexCall): Promise<Thread> {
    let config: Config;
    try {
      config = await this.#options.resolveConfig(call);
    } catch (error) {
      throw new CallerError(messageOf(error));
    }
    const threads = await this.#options.threads();
    try {
      return await threads.startThread(config, 'mcp');
    } catch (error) {
      this.#options.log(`starting a thread: ${stackOf(error)}`);
      throw new CallerError(`The thread could not be started: ${messageOf(error)}`);
    }
  }

  async #findThread(id: string): Promise<Thread> {
    const threads = await this.#options.threads();
    try {
      return await threads.getThread(id);
    } catch (error) {
      // By name: the class lives in a room that is not loaded for this.
      if (error instanceof Error && error.name === 'ThreadUnavailableError') throw new CallerError(error.message);
      throw error;
    }
  }

  #track(turn: RunningTurn): RunningTurn {
    this.#running.add(turn);
    const forget = () => {
      this.#running.delete(turn);
    };
    turn.finished.then(forget, forget);
    return turn;
  }
}

/** What is wrong is the caller's to mend; the message is for them. */
class CallerError extends Error {}
