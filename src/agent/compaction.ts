/** Replacing old history by a summary, so that a thread outlives its context window. */
import type {
  ContentPart,
  EventSink,
  HistoryItem,
  ModelError,
  ModelInfo,
  ModelRequest,
  Provider,
  TokenUsage,
} from '../protocol/index.js';
import { isPrompt } from '../rollout/index.js';
import { estimateTokens, type Span, type TraceContext, truncateMiddle } from '../util/index.js';
import { isSummary, message, summaryText } from './context.js';
import { ModelRequestWatch } from './model-request-watch.js';
import { textOf, waitToReconnect } from './model-stream.js';

export const DEFAULT_COMPACT_PROMPT = `The context window is almost full. Write a hand-off summary so that another model can take over this thread and knows nothing else about it. Say:
- what was asked, with every constraint and preference that was stated;
- what was done and decided, with file paths, and what was found out on the way;
- the state of the work right now: what runs, what passes, what fails;
- the steps that remain, in order;
- names, commands, identifiers and data that will be needed.
Be concrete and brief. Answer with the summary only.`;

/** Tokens of prompts that are kept word for word, and the largest share of the window they may take. */
const KEPT_PROMPT_TOKENS = 20_000;
const KEPT_PROMPT_SHARE = 0.5;

/** Share of the request that is taken out when it was too long. */
const SHRINK = 0.7;
const MAX_ATTEMPTS = 12;

const REMOVED_OUTPUT = '[output removed to save space]';

export type CompactionResult =
  | { type: 'done'; message: string; usage: TokenUsage | null }
  | { type: 'failed'; error: ModelError }
  | { type: 'aborted' };

export type CompactionOptions = {
  provider: Provider;
  model: ModelInfo;
  /** Of the turn. */
  span: Span;
  /** The request as it would be sent for this input, with trace context as headers. */
  request: (input: readonly HistoryItem[], headers: TraceContext) => ModelRequest;
  history: readonly HistoryItem[];
  prompt: string;
  signal: AbortSignal;
  emit: EventSink;
};

/** Asks the model for a summary. Where the request itself is too long, old tool outputs go first, then old items. */
export async function summarise(options: CompactionOptions): Promise<CompactionResult> {
  const ask = message('user', [options.prompt]);
  let input = [...options.history];
  let reconnects = 0;
  const maxReconnects = options.provider.settings.stream_max_retries;
  for (let attempt = 1; ; attempt++) {
    const result = await askOnce(options, [...input, ask]);
    if (options.signal.aborted) return { type: 'aborted' };
    if (result.type !== 'failed') return result;
    if (result.error.kind === 'context_window_exceeded' && attempt < MAX_ATTEMPTS && input.length > 0) {
      input = shrink(input, Math.floor(sizeOf(input) * SHRINK));
    } else if (result.error.retryable && reconnects < maxReconnects) {
      await waitToReconnect({ ...options, attempt: ++reconnects, max: maxReconnects, error: result.error });
    } else {
      return result;
    }
  }
}

async function askOnce(options: CompactionOptions, input: HistoryItem[]): Promise<CompactionResult> {
  const { provider, model, span, signal } = options;
  const watch = new ModelRequestWatch({ span, provider: provider.settings, model, purpose: 'compaction' });
  let text = '';
  try {
    for await (const event of provider.stream(options.request(input, watch.span.context()), signal)) {
      watch.note(event);
      if (event.type === 'item.completed' && event.item.type === 'message') text = textOf(event.item.content);
      if (event.type === 'completed') return { type: 'done', message: summaryText(text), usage: event.usage };
      if (event.type === 'failed') return { type: 'failed', error: event.error };
    }
  } finally {
    watch.end(signal.aborted);
  }
  return { type: 'aborted' };
}

/** Makes `items` at most `budget` bytes: tool outputs are emptied oldest first, then the oldest items go. */
function shrink(items: readonly HistoryItem[], budget: number): HistoryItem[] {
  const kept = [...items];
  let size = sizeOf(kept);
  for (let i = 0; i < kept.length && size > budget; i++) {
    const item = kept[i];
    if (item?.type !== 'function_call_output' && item?.type !== 'custom_tool_call_output') continue;
    if (item.output === REMOVED_OUTPUT) continue;
    const emptied = { ...item, output: REMOVED_OUTPUT };
    size -= byteSize(item) - byteSize(emptied);
    kept[i] = emptied;
  }
  while (kept.length > 1 && size > budget) {
    const [first] = kept.splice(0, 1);
    if (first) size -= byteSize(first);
    for (const orphan of takeOrphans(kept, first)) size -= byteSize(orphan);
  }
  return size > budget ? kept.map(item => cutMessage(item, budget)) : kept;
}

/** Removes and returns the outputs that belong to a removed call. */
function takeOrphans(items: HistoryItem[], removed: HistoryItem | undefined): HistoryItem[] {
  if (removed?.type !== 'function_call' && removed?.type !== 'custom_tool_call') return [];
  const at = items.findIndex(
    item =>
      (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') &&
      item.call_id === removed.call_id,
  );
  return at < 0 ? [] : items.splice(at, 1);
}

function cutMessage(item: HistoryItem, budget: number): HistoryItem {
  if (item.type !== 'message') return item;
  const text = textOf(item.content);
  return {
    ...item,
    content: [{ type: item.role === 'assistant' ? 'output_text' : 'input_text', text: cutText(text, budget) }],
  };
}

function cutText(text: string, bytes: number): string {
  return truncateMiddle(text, bytes, removed => `…${Math.ceil(removed / 4)} tokens truncated…`).text;
}

/** What an image counts for, whatever its file size: some 1,500 tokens. */
const IMAGE_BYTES = 6000;

/** What an item counts for beside its text: names, ids, quotation marks. */
const FRAME_BYTES = 100;

/** How much of a context window an item takes, in bytes of text. Threads are long: nothing is copied to find out. */
function byteSize(item: HistoryItem): number {
  switch (item.type) {
    case 'message':
      return FRAME_BYTES + sizeOfParts(item.content);
    case 'reasoning': {
      const shown = [...item.summary, ...(item.content ?? [])].reduce(
        (sum, part) => sum + Buffer.byteLength(part.text),
        0,
      );
      return FRAME_BYTES + Math.max(shown, Buffer.byteLength(item.encrypted_content ?? ''));
    }
    case 'function_call':
      return FRAME_BYTES + Buffer.byteLength(item.arguments);
    case 'custom_tool_call':
      return FRAME_BYTES + Buffer.byteLength(item.input);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return (
        FRAME_BYTES + (typeof item.output === 'string' ? Buffer.byteLength(item.output) : sizeOfParts(item.output))
      );
    case 'web_search_call':
    case 'local_shell_call':
    case 'tool_search_call':
    case 'tool_search_output':
    case 'image_generation_call':
    case 'compaction':
      return Buffer.byteLength(JSON.stringify(item));
  }
}

function sizeOfParts(parts: readonly ContentPart[]): number {
  return parts.reduce(
    (sum, part) => sum + (part.type === 'input_image' ? IMAGE_BYTES : Buffer.byteLength(part.text)),
    0,
  );
}

const sizeOf = (items: readonly HistoryItem[]): number => items.reduce((sum, item) => sum + byteSize(item), 0);

type RunningCommand = { readonly id: number; readonly script: string };

export type Replacement = {
  history: readonly HistoryItem[];
  /** Fresh context items. */
  context: readonly HistoryItem[];
  /** Preface and summary. */
  message: string;
  /** In the middle of a turn the context goes before its prompt; between turns it goes first. */
  midTurn: boolean;
  /** Of the model, tokens. */
  window: number;
  /** How often the thread was compacted in a row, this time included: when it did not become small enough, less is kept. */
  attempt: number;
  /** Commands that are still running. */
  running: readonly RunningCommand[];
};

/** The history after a compaction: context, the prompts word for word (newest first within the limit), the summary. */
export function replacementHistory(options: Replacement): HistoryItem[] {
  const most = Math.min(KEPT_PROMPT_TOKENS, options.window * KEPT_PROMPT_SHARE);
  const prompts = keptPrompts(options.history, Math.floor(most / 4 ** (options.attempt - 1)));
  const summary = message('user', [`${options.message}${runningText(options.running)}`]);
  const last = prompts.at(-1);
  if (!options.midTurn || !last) return [...options.context, ...prompts, summary];
  return [...prompts.slice(0, -1), ...options.context, last, summary];
}

/** Of the script of a running command, this much is told, bytes. */
const SHOWN_SCRIPT = 300;

function runningText(commands: readonly RunningCommand[]): string {
  if (commands.length === 0) return '';
  const lines = commands.map(({ id, script }) => `- session ${id}: ${cutText(script.trim(), SHOWN_SCRIPT)}`);
  return `\n\nCommands that are still running:\n${lines.join('\n')}`;
}

function keptPrompts(history: readonly HistoryItem[], tokens: number): HistoryItem[] {
  const kept: HistoryItem[] = [];
  let left = tokens;
  for (const item of history.filter(isOwnPrompt).toReversed()) {
    if (left <= 0) break;
    const text = textOf(item.content);
    const size = estimateTokens(text);
    kept.unshift(message('user', [size <= left ? text : cutText(text, left * 4)]));
    left -= size;
  }
  return kept;
}

function isOwnPrompt(item: HistoryItem): item is HistoryItem & { type: 'message' } {
  return item.type === 'message' && isPrompt(item) && !isSummary(textOf(item.content));
}

/** True while a thread holds its context and one prompt, so that there is nothing a summary could replace. */
export function isLonePrompt(history: readonly HistoryItem[]): boolean {
  const isContext = (item: HistoryItem) => item.type === 'message' && item.role !== 'assistant' && !isPrompt(item);
  const others = history.filter(item => !isContext(item));
  return others.every(isOwnPrompt) && others.length === 1;
}

/** A guess at the size of a history where the provider counts nothing: four bytes a token. */
export function estimateHistoryTokens(items: readonly HistoryItem[]): number {
  return Math.ceil(sizeOf(items) / 4);
}
