/** The turn loop: history -> model -> tool calls -> history, until the model calls no tool. Speaks only in events. */
import type { Config } from '../config/index.js';
import {
  addUsage,
  type HistoryItem,
  type ModelError,
  type ModelInfo,
  type ModelRequest,
  type Provider,
  type TokenUsage,
  type ToolCallItem,
  type ToolCallOutputItem,
  type TurnError,
} from '../protocol/index.js';
import type { TraceContext } from '../util/index.js';
import type { AnswerCheck } from './answer-check.js';
import { CallScheduler } from './call-scheduler.js';
import {
  type CompactionResult,
  DEFAULT_COMPACT_PROMPT,
  estimateHistoryTokens,
  isLonePrompt,
  replacementHistory,
  summarise,
} from './compaction.js';
import { message } from './context.js';
import { newItemId } from './ids.js';
import { streamAnswer, textOf } from './model-stream.js';
import { runToolCall } from './tool-call.js';
import type { ToolSet, TurnContext } from './turn-context.js';
import { failed, type TurnEnd } from './turn-end.js';
import { emitWarning } from './turn-events.js';

/** Compactions of one turn that may follow each other without an answer below the limit in between. */
const MAX_COMPACTIONS = 3;
/** Answers in a row that may be cut by the output limit. */
const MAX_CUT_ANSWERS = 3;

const COMPACTED =
  'The thread was compacted: earlier messages were replaced by a summary. Long threads with several compactions can make the model less accurate; start a new thread where that is possible.';

export type TurnState = {
  readonly config: Config;
  readonly model: ModelInfo;
  readonly provider: Provider;
  /** What the model is shown; grows, and is replaced by a compaction. */
  history: HistoryItem[];
  usage: { total: TokenUsage; last: TokenUsage | null };
  /** Number of compactions so far. */
  window: number;
};

export type TurnOptions = {
  readonly state: TurnState;
  readonly turn: TurnContext;
  readonly instructions: string;
  readonly outputSchema: ModelRequest['output_schema'];
  /** The context as it stands now, for the history after a compaction. */
  readonly freshContext: () => Promise<HistoryItem[]>;
  /** Called when the model wants to stop; a text makes it go on with that as a prompt. */
  readonly beforeStop: (lastMessage: string | null) => Promise<string | null>;
  /** What is wrong with the final answer; the model may mend it once, then the turn fails. */
  readonly checkAnswer: AnswerCheck;
  readonly beforeCompaction: () => Promise<void>;
};

/** Runs the loop on a history that ends with the prompt. Emits everything but the turn's own start and end. */
export async function runTurn(options: TurnOptions): Promise<TurnEnd> {
  return new TurnLoop(options).run();
}

/** Adds items to the history and tells the listeners. */
export function addToHistory(state: TurnState, turn: Pick<TurnContext, 'emit'>, items: readonly HistoryItem[]): void {
  for (const item of items) {
    state.history.push(item);
    turn.emit({ type: 'history.added', item });
  }
}

/** Compacts before a turn when the last answer left the thread over its limit. */
export async function compactBeforeTurn(options: TurnOptions): Promise<TurnEnd | null> {
  return new TurnLoop(options).compactIfFull(false);
}

/** Tokens at which a thread is compacted: the configured limit, never above 90 % of the window. */
function compactionLimit(config: Config, model: ModelInfo): number {
  const most = Math.floor((config.model_context_window ?? model.context_window) * 0.9);
  return Math.min(config.model_auto_compact_token_limit ?? most, most);
}

class TurnLoop {
  readonly #options: TurnOptions;
  #compactions = 0;
  #cutAnswers = 0;
  #lastMessage: string | null = null;
  #mended = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  async run(): Promise<TurnEnd> {
    for (;;) {
      const step = await this.#step();
      if (step !== 'again') return step;
    }
  }

  /** One answer of the model with its tool calls. */
  async #step(): Promise<TurnEnd | 'again'> {
    const { state, turn } = this.#options;
    const calls = new RunningCalls(state, turn);
    this.#lastMessage = null;
    const answer = await streamAnswer({
      provider: state.provider,
      model: state.model,
      span: turn.span,
      request: headers => this.#request(state.history, headers),
      signal: turn.signal,
      emit: turn.emit,
      onItem: item => this.#take(item, calls),
      settle: () => calls.beforeReconnect(),
      showReasoning: {
        summaries: !state.config.hide_agent_reasoning,
        raw: state.config.show_raw_agent_reasoning,
      },
    });
    await calls.settle();
    if (answer.type !== 'completed' || answer.truncated) dropIdleReasoning(state.history);
    if (answer.type === 'aborted') return { type: 'aborted' };
    if (answer.type === 'completed') this.#count(answer.usage);
    if (turn.signal.aborted) return { type: 'aborted' };
    if (answer.type === 'failed') return this.#failed(answer.error);
    turn.diff.repeat(turn.emit);
    if (answer.truncated) return this.#cut(calls.count > 0);
    this.#cutAnswers = 0;
    if (calls.count > 0) return (await this.compactIfFull(true)) ?? 'again';
    return this.#stop();
  }

  #take(item: HistoryItem, calls: RunningCalls): void {
    const { state, turn } = this.#options;
    addToHistory(state, turn, [item]);
    if (item.type === 'message' && item.role === 'assistant') this.#lastMessage = textOf(item.content);
    if (item.type === 'function_call' || item.type === 'custom_tool_call') calls.start(item);
  }

  async #stop(): Promise<TurnEnd | 'again'> {
    const { state, turn } = this.#options;
    const more = await this.#options.beforeStop(this.#lastMessage);
    if (turn.signal.aborted) return { type: 'aborted' };
    if (more === null) return this.#finish();
    addToHistory(state, turn, [message('user', [more])]);
    return 'again';
  }

  async #finish(): Promise<TurnEnd | 'again'> {
    const { state, turn, checkAnswer } = this.#options;
    const problem = await checkAnswer(this.#lastMessage);
    if (problem === null) return { type: 'completed', lastMessage: this.#lastMessage };
    if (this.#mended) {
      const text = `The final answer does not match the output schema, not even after the model was told so: ${problem}`;
      return failed({ message: text, kind: 'other' });
    }
    this.#mended = true;
    const note = `Your final answer does not match the JSON Schema that it has to match: ${problem}. Give the answer again as one JSON value that does, without any other text.`;
    addToHistory(state, turn, [message('developer', [note])]);
    return 'again';
  }

  async #failed(error: ModelError): Promise<TurnEnd | 'again'> {
    const isFull = error.kind === 'context_window_exceeded';
    const isLone = isFull && isLonePrompt(this.#options.state.history);
    if (isFull && !isLone && this.#compactions < MAX_COMPACTIONS) return (await this.#compact(true)) ?? 'again';
    const { message: text, kind, http_status } = error;
    // Cut in half it would be another task.
    const advice = isLone ? ' (the prompt alone does not fit; shorten it, or let the agent read it from a file)' : '';
    return failed({ message: text + advice, kind, ...(http_status === undefined ? {} : { http_status }) });
  }

  /** The output limit cut the answer: a cut call was never run, so the model is told; a cut text is no answer. */
  async #cut(hadCalls: boolean): Promise<TurnEnd | 'again'> {
    const { state, turn } = this.#options;
    const textOnly = this.#lastMessage !== null && !hadCalls;
    if (textOnly || ++this.#cutAnswers > MAX_CUT_ANSWERS) {
      return failed({
        message: `The answer of ${state.model.id} was cut at its output limit (max_output_tokens); what arrived is kept in the thread. Reply to continue, or ask for less at once.`,
        kind: 'other',
      });
    }
    const note =
      'Your last response was cut at the output limit, so any unfinished tool call in it was not run. Continue in smaller steps.';
    addToHistory(state, turn, [message('developer', [note])]);
    return (await this.compactIfFull(true)) ?? 'again';
  }

  #count(usage: TokenUsage | null): void {
    const { state, turn } = this.#options;
    if (usage) {
      state.usage = { total: addUsage(state.usage.total, usage), last: usage };
    } else {
      state.usage = { ...state.usage, last: null };
    }
    turn.emit({
      type: 'usage.updated',
      last: usage,
      total: state.usage.total,
      model_context_window: state.config.model_context_window ?? state.model.context_window,
    });
  }

  #request(
    input: readonly HistoryItem[],
    headers: TraceContext,
    tools = this.#options.turn.tools.specs(),
  ): ModelRequest {
    const { state, turn, instructions, outputSchema } = this.#options;
    const { config, model } = state;
    return {
      model,
      instructions,
      input,
      tools,
      parallel_tool_calls: model.parallel_tool_calls,
      reasoning: {
        effort: config.model_reasoning_effort ?? model.default_reasoning_effort,
        summary: config.model_reasoning_summary ?? (model.reasoning_summaries ? 'auto' : null),
      },
      verbosity: config.model_verbosity,
      service_tier: config.service_tier,
      output_schema: outputSchema,
      thread_id: turn.threadId,
      turn_id: turn.turnId,
      window: state.window,
      headers: { ...headers },
    };
  }

  /** Compacts when the thread is over its limit. A TurnEnd means that it cannot go on. */
  async compactIfFull(midTurn: boolean): Promise<TurnEnd | null> {
    const { state } = this.#options;
    const limit = compactionLimit(state.config, state.model);
    const size = state.usage.last?.total_tokens ?? estimateHistoryTokens(state.history);
    if (size < limit) {
      this.#compactions = 0;
      return null;
    }
    if (this.#compactions >= MAX_COMPACTIONS) {
      return failed({
        message: `The thread stays over its limit of ${limit} tokens after ${MAX_COMPACTIONS} compactions in a row (it has ${size}). Raise model_auto_compact_token_limit, or go on in a new thread.`,
        kind: 'context_window_exceeded',
      });
    }
    return this.#compact(midTurn);
  }

  async #compact(midTurn: boolean): Promise<TurnEnd | null> {
    const { state, turn } = this.#options;
    this.#compactions++;
    await this.#options.beforeCompaction();
    const item = { type: 'compaction', id: newItemId('item') } as const;
    turn.emit({ type: 'item.started', item, at_ms: Date.now() });
    const result = await summarise({
      provider: state.provider,
      model: state.model,
      span: turn.span,
      request: (input, headers) => this.#request(input, headers, []),
      history: state.history,
      prompt: state.config.instructions.compact_prompt ?? DEFAULT_COMPACT_PROMPT,
      signal: turn.signal,
      emit: turn.emit,
    });
    if (result.type === 'aborted') return { type: 'aborted' };
    if (result.type === 'failed') return failed(compactionError(result.error));
    await this.#replace(result, midTurn);
    turn.emit({ type: 'item.completed', item, at_ms: Date.now() });
    // A copy: the history grows behind it.
    turn.emit({ type: 'context.compacted', message: result.message, replacement: [...state.history] });
    emitWarning(turn.emit, COMPACTED);
    return null;
  }

  async #replace(result: CompactionResult & { type: 'done' }, midTurn: boolean): Promise<void> {
    const { state, turn } = this.#options;
    state.history = replacementHistory({
      history: state.history,
      context: await this.#options.freshContext(),
      message: result.message,
      midTurn,
      window: state.config.model_context_window ?? state.model.context_window,
      attempt: this.#compactions,
      running: turn.sessions.running().map(({ id, item }) => ({ id, script: item.command.at(-1) ?? '' })),
    });
    state.window++;
    this.#count(result.usage);
    // The size of the new history is not known before the next answer, also to those who read the thread from disk.
    this.#count(null);
  }
}

function compactionError(error: { message: string; kind: TurnError['kind'] }): TurnError {
  return { message: `The thread is full and could not be compacted: ${error.message}`, kind: error.kind };
}

/** The tool calls of one answer: started as they arrive, answered in the history in the order of the calls. */
class RunningCalls {
  readonly #state: TurnState;
  readonly #turn: TurnContext;
  readonly #scheduler = new CallScheduler();
  #pending: { call: ToolCallItem; output: Promise<ToolCallOutputItem> }[] = [];
  count = 0;

  constructor(state: TurnState, turn: TurnContext) {
    this.#state = state;
    this.#turn = turn;
  }

  start(call: ToolCallItem): void {
    this.count++;
    const turn = this.#turn;
    const output = this.#scheduler.schedule(mayRunBeside(call, turn.tools), () => runToolCall(call, turn));
    this.#pending.push({ call, output });
  }

  /** The calls of a broken answer are part of the history now; whether the turn goes on is up to the next answer. */
  async beforeReconnect(): Promise<void> {
    await this.settle();
    dropIdleReasoning(this.#state.history);
    this.count = 0;
  }

  /**
   * Waits for the outputs and puts them into the history. Each is told as soon as it is there, so that it outlives a
   * crash while others still run.
   */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    const outputs = pending.map(async ({ output }) => {
      const item = await output;
      this.#turn.emit({ type: 'history.added', item });
      return item;
    });
    this.#state.history.push(...(await Promise.all(outputs)));
  }
}

/** Takes away reasoning at the end that led to nothing: services refuse it without what it led to. */
function dropIdleReasoning(history: HistoryItem[]): void {
  while (history.at(-1)?.type === 'reasoning') history.pop();
}

/** Whether a call may run at the same time as others. One of an unknown tool is only answered. */
function mayRunBeside(call: ToolCallItem, tools: ToolSet): boolean {
  const [raw, namespace] =
    call.type === 'custom_tool_call' ? [call.input, undefined] : [call.arguments, call.namespace];
  const tool = tools.find(call.name, namespace);
  return tool === undefined || (tool.parallel && tool.runsAlone?.(raw) !== true);
}
