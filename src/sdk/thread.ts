/** One thread: turns by `run` or `runStreamed`, one after the other. */
import type { Duplex } from 'node:stream';
import { answerApprovals } from './approvals.js';
import { ApprovalCallbackError, ExecError, TurnFailedError } from './errors.js';
import type { ThreadEvent, ThreadItem, Usage } from './events.js';
import { execArguments } from './exec-arguments.js';
import { type ExecRun, runExec } from './exec-process.js';
import type { Input, InterpreterOptions, ThreadOptions, TurnOptions } from './options.js';
import { jsonSchemaOf, parseAnswer, type StandardSchema, writeSchemaFile } from './output-schema.js';
import { findProgram, programEnvironment } from './program.js';

/** A completed turn. */
export type Turn = {
  items: ThreadItem[];
  /** The last message; "" when there was none. */
  finalResponse: string;
  usage: Usage | null;
  /** The answer as a value, where an output schema was given. */
  output?: unknown;
};

/** A completed turn whose answer matches a schema. */
export type TurnOf<T> = Omit<Turn, 'output'> & { output: T };
export type StreamedTurn = { events: AsyncGenerator<ThreadEvent> };

/** The descriptor of the program that approvals go over. */
const APPROVALS_FD = 3;

/** Made by `startThread` and `resumeThread`. Each turn is a run of the program. */
export class Thread {
  readonly #options: InterpreterOptions;
  readonly #threadOptions: ThreadOptions;
  #id: string | null;

  constructor(options: InterpreterOptions, threadOptions: ThreadOptions, id: string | null) {
    this.#options = options;
    this.#threadOptions = threadOptions;
    this.#id = id;
  }

  /** Null until the first turn has started. */
  get id(): string | null {
    return this.#id;
  }

  /**
   * Runs a turn to its end. Throws TurnFailedError, AbortError, OutputSchemaError, ApprovalCallbackError,
   * ProgramNotStartedError or ExecError.
   */
  run<T>(input: Input, turnOptions: TurnOptions & { outputSchema: StandardSchema<T> }): Promise<TurnOf<T>>;
  run(input: Input, turnOptions?: TurnOptions): Promise<Turn>;
  async run(input: Input, turnOptions: TurnOptions = {}): Promise<Turn> {
    const turn: Turn = { items: [], finalResponse: '', usage: null };
    for await (const event of this.#events(input, turnOptions)) {
      if (event.type === 'turn.completed') turn.usage = event.usage;
      if (event.type !== 'item.completed') continue;
      turn.items.push(event.item);
      if (event.item.type === 'agent_message') turn.finalResponse = event.item.text;
    }
    if (turnOptions.outputSchema === undefined) return turn;
    return { ...turn, output: await parseAnswer(turnOptions.outputSchema, turn.finalResponse) };
  }

  /**
   * Runs a turn and hands out its events as they come. Leaving the loop ends the turn. After the event of a turn that
   * failed, and for whatever else `run` throws, the loop throws.
   */
  // oxlint-disable-next-line typescript/require-await -- a promise in the Codex SDK
  async runStreamed(input: Input, turnOptions: TurnOptions = {}): Promise<StreamedTurn> {
    return { events: this.#events(input, turnOptions) };
  }

  async *#events(input: Input, { outputSchema, signal }: TurnOptions): AsyncGenerator<ThreadEvent> {
    if (outputSchema === undefined) return yield* this.#exec(input, null, signal);
    const file = await writeSchemaFile(await jsonSchemaOf(outputSchema));
    try {
      yield* this.#exec(input, file.path, signal);
    } finally {
      await file.remove();
    }
  }

  async *#exec(input: Input, schemaFile: string | null, signal?: AbortSignal): AsyncGenerator<ThreadEvent> {
    const { approve } = this.#threadOptions;
    const { prompt, images } = promptAndImages(input);
    const faults: unknown[] = [];
    const channel = approve && ((socket: Duplex) => answerApprovals(socket, approve, error => faults.push(error)));
    const run: ExecRun = {
      program: findProgram(this.#options),
      args: execArguments({
        options: this.#options,
        thread: this.#threadOptions,
        threadId: this.#id,
        schemaFile,
        images,
        approvalsFd: approve ? APPROVALS_FD : null,
      }),
      env: programEnvironment(this.#options),
      prompt,
      ...(signal ? { signal } : {}),
      ...(channel ? { channel } : {}),
    };
    let failure: string | null = null;
    try {
      for await (const event of runExec(run)) {
        if (event.type === 'thread.started') this.#id = event.thread_id;
        if (event.type === 'turn.failed') failure = event.error.message;
        yield event;
      }
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      if (faults.length > 0) throw new ApprovalCallbackError('The callback for approvals threw.', { cause: faults[0] });
      throw failure === null ? error : new TurnFailedError(failure, this.#id);
    }
  }
}

function promptAndImages(input: Input): { prompt: string; images: string[] } {
  if (typeof input === 'string') return { prompt: input, images: [] };
  return {
    prompt: input.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n\n'),
    images: input.flatMap(part => (part.type === 'local_image' ? [part.path] : [])),
  };
}
