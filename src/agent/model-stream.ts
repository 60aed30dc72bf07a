/**
 * One answer of the model: the request, its stream, and the reconnects when a stream breaks. Items that arrived before
 * a cut stay in the history, so a reconnect goes on behind them and nothing is done twice.
 */
import type {
  EventSink,
  HistoryItem,
  ModelError,
  ModelEvent,
  ModelInfo,
  ModelRequest,
  Provider,
  TokenUsage,
} from '../protocol/index.js';
import { backoffMs, delay, type Span, type TraceContext } from '../util/index.js';
import { newItemId } from './ids.js';
import { ModelRequestWatch } from './model-request-watch.js';

export type ModelAnswer =
  | { type: 'completed'; usage: TokenUsage | null; truncated: boolean }
  | { type: 'failed'; error: ModelError }
  | { type: 'aborted' };

export type StreamOptions = {
  provider: Provider;
  model: ModelInfo;
  /** Of the turn. */
  span: Span;
  /** Built anew for each attempt: the history has grown. `headers`: trace context to send along. */
  request: (headers: TraceContext) => ModelRequest;
  signal: AbortSignal;
  emit: EventSink;
  /** Called for every whole item, in order, before the next event is read. */
  onItem: (item: HistoryItem) => void;
  /** Awaited before a reconnect: running tool calls must be answered in the history first. */
  settle: () => Promise<void>;
  showReasoning: { summaries: boolean; raw: boolean };
};

export async function streamAnswer(options: StreamOptions): Promise<ModelAnswer> {
  const { provider, signal, emit } = options;
  const max = provider.settings.stream_max_retries;
  for (let attempt = 1; ; attempt++) {
    const answer = await streamOnce(options);
    if (signal.aborted) return { type: 'aborted' };
    if (answer.type !== 'failed' || !answer.error.retryable || attempt > max) return answer;
    await options.settle();
    if (!(await waitToReconnect({ attempt, max, error: answer.error, emit, signal }))) return { type: 'aborted' };
  }
}

export type Reconnect = { attempt: number; max: number; error: ModelError; emit: EventSink; signal: AbortSignal };

/** Tells of the attempt (1, 2, …) that comes, and waits. False: the signal fired. */
export function waitToReconnect({ attempt, max, error, emit, signal }: Reconnect): Promise<boolean> {
  const delayMs = error.retry_after_ms ?? backoffMs(attempt);
  const message = `Reconnecting... ${attempt}/${max}`;
  emit({ type: 'retry', attempt, max, message, details: error.message, delay_ms: delayMs });
  return delay(delayMs, signal);
}

/** What a provider never sends; a stream that just stops is still no answer. */
const NO_END: ModelError = {
  message: 'The answer of the model stopped without an end.',
  kind: 'stream_disconnected',
  retryable: true,
};

async function streamOnce(options: StreamOptions): Promise<ModelAnswer> {
  const { provider, signal, span } = options;
  const started = new Set<string>();
  const watch = new ModelRequestWatch({ span, provider: provider.settings, model: options.model, purpose: 'answer' });
  let answer: ModelAnswer | null = null;
  try {
    for await (const event of provider.stream(options.request(watch.span.context()), signal)) {
      watch.note(event);
      const end = handle(event, options, started);
      if (end) answer = end;
    }
  } finally {
    watch.end(signal.aborted);
  }
  return answer ?? { type: 'failed', error: NO_END };
}

function handle(event: ModelEvent, options: StreamOptions, started: Set<string>): ModelAnswer | null {
  const { emit, showReasoning } = options;
  switch (event.type) {
    case 'started':
      return null;
    case 'item.started':
      announce(event.item_id, event.kind, options, started);
      return null;
    case 'text.delta':
      announce(event.item_id, 'message', options, started);
      emit(event);
      return null;
    case 'reasoning.delta':
    case 'reasoning.section':
      if (!showReasoning.summaries) return null;
      announce(event.item_id, 'reasoning', options, started);
      emit(event);
      return null;
    case 'reasoning.raw_delta':
      if (!showReasoning.summaries || !showReasoning.raw) return null;
      announce(event.item_id, 'reasoning', options, started);
      emit(event);
      return null;
    case 'item.completed':
      completeItem(event.item, options, started);
      return null;
    case 'retry':
      emit({
        type: 'retry',
        attempt: event.attempt,
        max: event.max,
        message: `Retrying the request... ${event.attempt}/${event.max}`,
        details: event.error.message,
        delay_ms: event.delay_ms,
      });
      return null;
    case 'completed':
      emit({ type: 'response.completed', response_id: event.response_id, usage: event.usage });
      return { type: 'completed', usage: event.usage, truncated: event.truncated };
    case 'failed':
      return { type: 'failed', error: event.error };
  }
}

function announce(id: string, kind: 'message' | 'reasoning', options: StreamOptions, started: Set<string>): void {
  if (started.has(id) || (kind === 'reasoning' && !options.showReasoning.summaries)) return;
  started.add(id);
  options.emit({
    type: 'item.started',
    item:
      kind === 'message' ? { type: 'agent_message', id, text: '' } : { type: 'reasoning', id, summary: [], raw: [] },
    at_ms: Date.now(),
  });
}

function completeItem(item: HistoryItem, options: StreamOptions, started: Set<string>): void {
  if (item.type === 'message' && item.role === 'assistant') {
    item.id ??= newItemId('msg');
    announce(item.id, 'message', options, started);
    options.emit({
      type: 'item.completed',
      item: {
        type: 'agent_message',
        id: item.id,
        text: textOf(item.content),
        ...(item.phase ? { phase: item.phase } : {}),
      },
      at_ms: Date.now(),
    });
  } else if (item.type === 'reasoning') {
    item.id ??= newItemId('rs');
    completeReasoning(item, options, started);
  }
  options.onItem(item);
}

function completeReasoning(
  item: HistoryItem & { type: 'reasoning' },
  options: StreamOptions,
  started: Set<string>,
): void {
  const id = item.id ?? '';
  const { summaries, raw } = options.showReasoning;
  if (!summaries) return;
  announce(id, 'reasoning', options, started);
  options.emit({
    type: 'item.completed',
    item: {
      type: 'reasoning',
      id,
      summary: item.summary.map(part => part.text),
      raw: raw ? (item.content ?? []).map(part => part.text) : [],
    },
    at_ms: Date.now(),
  });
}

/** The text of a message's parts. */
export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map(part => part.text ?? '').join('');
}
