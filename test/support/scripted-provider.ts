/**
 * A model without a service: a Provider whose answers are a script. Each request takes the next answer; a request
 * beyond the end of the script gets the text "done". What was asked is kept in `requests`.
 */
import {
  type HistoryItem,
  type ModelError,
  type ModelEvent,
  type ModelInfo,
  type ModelRequest,
  NO_USAGE,
  type Provider,
  type ProviderSettings,
  type TokenUsage,
} from '../../src/protocol/index.js';
import { onAbort } from '../../src/util/index.js';

export type ModelStep =
  /** An assistant message; it arrives in `chunks` deltas (default 1). */
  | { say: string; chunks?: number; phase?: 'commentary' | 'final_answer' }
  /** Deltas of a message that is never completed. */
  | { partial: string }
  /** Reasoning with a summary. */
  | { think: string }
  /** A function call; `args` is the JSON value or, as a string, the text exactly as given. */
  | { call: string; args?: unknown; id?: string }
  /** A shell command: `exec_command`, or `shell_command` where that is offered instead. */
  | { shell: string; id?: string; args?: Record<string, unknown> }
  /** A freeform `apply_patch` call. */
  | { patch: string; id?: string }
  /** Any history item, as it is. */
  | { item: HistoryItem }
  /** Tokens of this answer; default: 10 in, 5 out. */
  | { usage: { input: number; output: number } | null }
  /** The output limit cut the answer. */
  | { cut: true }
  /** The stream ends with this error. */
  | { fail: Partial<ModelError> & { message: string } }
  /** The stream stays silent until the turn is interrupted. */
  | { stall: true }
  /** Waits for this before the next step. */
  | { until: Promise<unknown> };

/** The steps of one answer, or a function of the request. */
export type ModelAnswerScript = readonly ModelStep[] | ((request: ModelRequest) => readonly ModelStep[]);

const SCRIPTED_SETTINGS: ProviderSettings = {
  id: 'scripted',
  name: 'Scripted',
  base_url: 'http://scripted.invalid/v1',
  wire_api: 'responses',
  http_headers: {},
  env_http_headers: {},
  query_params: {},
  request_max_retries: 0,
  stream_max_retries: 0,
  stream_idle_timeout_ms: 60_000,
};

export const SCRIPTED_MODEL: ModelInfo = {
  id: 'scripted-model',
  known: true,
  context_window: 100_000,
  max_output_tokens: null,
  images: true,
  parallel_tool_calls: true,
  custom_tools: true,
  reasoning_efforts: [],
  default_reasoning_effort: null,
  reasoning_summaries: false,
  verbosity: false,
  price: null,
};

export class ScriptedProvider implements Provider {
  readonly settings: ProviderSettings;
  /** Copies of the requests, in order: the history goes on growing behind the original. */
  readonly requests: ModelRequest[] = [];
  readonly #answers: ModelAnswerScript[];
  #calls = 0;

  constructor(answers: readonly ModelAnswerScript[] = [], settings: Partial<ProviderSettings> = {}) {
    this.#answers = [...answers];
    this.settings = { ...SCRIPTED_SETTINGS, ...settings };
  }

  /** Adds answers behind those that are left. */
  add(...answers: ModelAnswerScript[]): void {
    this.#answers.push(...answers);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const kept = { ...request, input: structuredClone(request.input) };
    this.requests.push(kept);
    const number = this.requests.length;
    const next = this.#answers.shift() ?? [{ say: 'done' }];
    const steps = typeof next === 'function' ? next(kept) : next;
    if (signal.aborted) return yield failed({ message: 'aborted' });
    yield { type: 'started' };
    let usage: TokenUsage | null = tokens({ input: 10, output: 5 });
    let truncated = false;
    for (const [index, step] of steps.entries()) {
      if ('usage' in step) usage = step.usage && tokens(step.usage);
      else if ('cut' in step) truncated = true;
      else if ('stall' in step) await aborted(signal);
      else if ('until' in step) await Promise.race([step.until, aborted(signal)]);
      else if ('fail' in step) return yield failed(step.fail);
      else yield* this.#item(step, `${number}_${index}`, request);
      if (signal.aborted) return yield failed({ message: 'aborted' });
    }
    yield { type: 'completed', response_id: `resp_${number}`, usage, truncated };
  }

  *#item(step: ItemStep, suffix: string, request: ModelRequest): Iterable<ModelEvent> {
    if ('say' in step) return yield* say(step, `msg_${suffix}`);
    if ('partial' in step) {
      yield { type: 'item.started', item_id: `msg_${suffix}`, kind: 'message' };
      return yield { type: 'text.delta', item_id: `msg_${suffix}`, delta: step.partial };
    }
    if ('think' in step) {
      const id = `rs_${suffix}`;
      yield { type: 'item.started', item_id: id, kind: 'reasoning' };
      yield { type: 'reasoning.delta', item_id: id, summary_index: 0, delta: step.think };
      const summary = [{ type: 'summary_text' as const, text: step.think }];
      return yield { type: 'item.completed', item: { type: 'reasoning', id, summary } };
    }
    yield { type: 'item.completed', item: this.#call(step, request) };
  }

  #call(
    step: Exclude<ItemStep, { say: string } | { think: string } | { partial: string }>,
    request: ModelRequest,
  ): HistoryItem {
    if ('item' in step) return step.item;
    this.#calls++;
    const callId = step.id ?? `call_${this.#calls}`;
    if ('patch' in step) {
      return { type: 'custom_tool_call', call_id: callId, name: 'apply_patch', input: step.patch };
    }
    if ('shell' in step) {
      const unified = request.tools.some(tool => tool.type !== 'web_search' && tool.name === 'exec_command');
      const name = unified ? 'exec_command' : 'shell_command';
      const args = { [unified ? 'cmd' : 'command']: step.shell, login: false, ...step.args };
      return { type: 'function_call', call_id: callId, name, arguments: JSON.stringify(args) };
    }
    const text = typeof step.args === 'string' ? step.args : JSON.stringify(step.args ?? {});
    return { type: 'function_call', call_id: callId, name: step.call, arguments: text };
  }
}

type ItemStep = Exclude<
  ModelStep,
  { usage: unknown } | { cut: true } | { stall: true } | { until: unknown } | { fail: unknown }
>;

function* say({ say: text, chunks = 1, phase }: Extract<ModelStep, { say: string }>, id: string): Iterable<ModelEvent> {
  yield { type: 'item.started', item_id: id, kind: 'message' };
  const size = Math.max(1, Math.ceil(text.length / chunks));
  for (let at = 0; at < text.length; at += size) {
    yield { type: 'text.delta', item_id: id, delta: text.slice(at, at + size) };
  }
  const content = [{ type: 'output_text' as const, text }];
  yield { type: 'item.completed', item: { type: 'message', id, role: 'assistant', content, ...(phase && { phase }) } };
}

function tokens({ input, output }: { input: number; output: number }): TokenUsage {
  return { ...NO_USAGE, input_tokens: input, output_tokens: output, total_tokens: input + output };
}

function failed(error: Partial<ModelError> & { message: string }): ModelEvent {
  return { type: 'failed', error: { kind: 'other', retryable: false, ...error } };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => void onAbort(signal, resolve));
}

/** The texts of the messages of one role in a request, in order. */
export function textsOf(request: ModelRequest | undefined, role: 'developer' | 'user' | 'assistant'): string[] {
  return (request?.input ?? []).flatMap(item =>
    item.type === 'message' && item.role === role
      ? [item.content.map(part => ('text' in part ? part.text : '')).join('\n')]
      : [],
  );
}

/** The output of a tool call in a request; undefined when it has none. */
export function outputOf(request: ModelRequest | undefined, callId: string): string | undefined {
  for (const item of request?.input ?? []) {
    if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') continue;
    if (item.call_id === callId) return typeof item.output === 'string' ? item.output : JSON.stringify(item.output);
  }
  return undefined;
}
