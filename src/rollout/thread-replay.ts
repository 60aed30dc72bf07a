/** What a thread is after its lines were read one by one: its history, settings, totals and the state of its last turn. */
import type { HistoryItem, TokenUsage } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { isPrompt, promptText } from './contextual.js';
import { decodeMeta, decodeTurnSettings, decodeUsage, jsonObject } from './decode.js';
import { decodeHistoryItem } from './decode-history-item.js';
import { asArray, asCount, asFields, asString, type Fields } from './fields.js';
import type { InterpreterLine, JsonObject, SessionMeta, TurnSettings } from './lines.js';
import type { ParsedLine } from './parse-line.js';
import { ImageShelf } from './store-once.js';

/** `interrupted`: the turn has a beginning and no end; its process died. `aborted`: somebody stopped it. */
export type TurnEnd = 'completed' | 'failed' | 'aborted' | 'interrupted';

export type LastTurn = { readonly turn_id: string; readonly end: TurnEnd; readonly error: string | null };

export type Usage = {
  readonly total: TokenUsage;
  /** Of the last response: what the history costs. */
  readonly last: TokenUsage;
  readonly model_context_window: number | null;
};

const WANTED_EVENTS: ReadonlySet<string> = new Set([
  'task_started',
  'turn_started',
  'task_complete',
  'turn_complete',
  'turn_aborted',
  'token_count',
  'thread_rolled_back',
]);

/** Events without effect on a replay need not be parsed. */
export function isReplayEvent(type: string): boolean {
  return WANTED_EVENTS.has(type);
}

export class ThreadReplay {
  readonly images = new ImageShelf();
  meta: SessionMeta | null = null;
  history: HistoryItem[] = [];
  settings: TurnSettings | null = null;
  /** The last full state and the changes after it, in order. */
  worldState: JsonObject[] = [];
  usage: Usage | null = null;
  notes: InterpreterLine[] = [];
  /** Compactions so far. */
  window = 0;
  turns = 0;
  lastTurn: LastTurn | null = null;
  updatedAt: string | null = null;

  apply(line: ParsedLine): void {
    this.updatedAt = line.timestamp ?? this.updatedAt;
    switch (line.type) {
      case 'session_meta':
        this.meta ??= decodeMeta(line.payload, line.timestamp);
        return;
      case 'turn_context':
        this.settings = decodeTurnSettings(line.payload) ?? this.settings;
        return;
      case 'world_state':
        return this.#applyWorldState(line.payload);
      case 'response_item': {
        const item = decodeHistoryItem(line.payload, this.images);
        if (item !== null) this.history.push(item);
        return;
      }
      case 'compacted':
        return this.#applyCompaction(line.payload);
      case 'event_msg':
        return this.#applyEvent(line.payload);
      case 'interpreter': {
        const kind = asString(line.payload['kind']);
        if (kind !== null) this.notes.push({ ...jsonObject(line.payload), kind });
        return;
      }
      default:
        // A type of a newer version, or one that has no part in a resume.
        return;
    }
  }

  #applyWorldState(payload: Fields): void {
    const state = jsonObject(payload['state']);
    if (state === null) return;
    this.worldState = payload['full'] === false ? [...this.worldState, state] : [state];
  }

  #applyCompaction(payload: Fields): void {
    this.window = asCount(payload['window_number']) ?? this.window + 1;
    const replacement = asArray(payload['replacement_history']);
    if (replacement === null) {
      // Older files hold the summary alone: the prompts stay, everything else goes.
      const summary = asString(payload['message']) ?? '';
      this.history = [...this.history.filter(isPrompt), userMessage(summary)];
      return;
    }
    const items = replacement.map(item => (isObject(item) ? decodeHistoryItem(item, this.images) : null));
    this.history = items.filter(item => item !== null);
  }

  #applyEvent(payload: Fields): void {
    const turnId = asString(payload['turn_id']) ?? '';
    switch (payload['type']) {
      case 'task_started':
      case 'turn_started':
        this.turns++;
        this.lastTurn = { turn_id: turnId, end: 'interrupted', error: null };
        return;
      case 'task_complete':
      case 'turn_complete': {
        const error = asString(asFields(payload['error'])?.['message']);
        this.lastTurn = { turn_id: turnId, end: error === null ? 'completed' : 'failed', error };
        return;
      }
      case 'turn_aborted':
        this.lastTurn = { turn_id: turnId, end: 'aborted', error: null };
        return;
      case 'token_count':
        this.usage = decodeTokenCount(payload) ?? this.usage;
        return;
      case 'thread_rolled_back':
        this.history = withoutLastTurns(this.history, asCount(payload['num_turns']) ?? 0);
        return;
      default:
        return;
    }
  }
}

function decodeTokenCount(payload: Fields): Usage | null {
  const info = asFields(payload['info']);
  const total = decodeUsage(info?.['total_token_usage']);
  if (total === null) return null;
  return {
    total,
    last: decodeUsage(info?.['last_token_usage']) ?? total,
    model_context_window: asCount(info?.['model_context_window']),
  };
}

/** Cut before the n-th prompt from the end, together with the context that was put before it. */
function withoutLastTurns(history: HistoryItem[], count: number): HistoryItem[] {
  const prompts = history.flatMap((item, index) => (isPrompt(item) ? [index] : []));
  const first = prompts[0];
  if (count === 0 || first === undefined) return history;
  let cut = prompts[Math.max(0, prompts.length - count)] ?? first;
  // The context of the very first turn stays: nothing would tell it again.
  while (cut > first && isContext(history[cut - 1])) cut--;
  return history.slice(0, cut);
}

function isContext(item: HistoryItem | undefined): boolean {
  if (item?.type !== 'message') return false;
  return item.role === 'developer' || (item.role === 'user' && promptText(item) === null);
}

function userMessage(text: string): HistoryItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
