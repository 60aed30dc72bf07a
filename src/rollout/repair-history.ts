/**
 * A history that every wire API takes: each tool call is followed, before anything else is said, by exactly one output
 * of its own kind; there is no output without a call, no reasoning that leads to nothing, no message without content.
 */
import type { ContentPart, HistoryItem, ToolOutput } from '../protocol/index.js';

/** Stands for the output of a call whose process died. */
export const LOST_OUTPUT =
  'aborted: the agent stopped before this call returned. It may have run, in full or in part; check before doing it again.';

type Output = HistoryItem & { type: 'function_call_output' | 'custom_tool_call_output' | 'tool_search_output' };

type OpenCall = { readonly call: HistoryItem; readonly callId: string; output: Output | null };

/** Pure. Items that are fine are kept as they are, in their order; outputs move up to their calls. */
export function repairHistory(items: readonly HistoryItem[]): HistoryItem[] {
  const outputs = new OutputQueues(items);
  const repaired: HistoryItem[] = [];
  let open: OpenCall[] = [];
  /** Outputs have begun: the next call, reasoning or text belongs to a new response. */
  let answering = false;
  const closeCalls = () => {
    for (const call of open) repaired.push(call.output ?? lostOutput(call.call, call.callId));
    open = [];
    answering = false;
  };
  for (const [index, item] of items.entries()) {
    if (isOutput(item)) {
      answering = true;
      continue;
    }
    const fromModel = isFromModel(item);
    if (!fromModel || answering) closeCalls();
    const callId = callIdOf(item);
    if (callId !== null) open.push({ call: item, callId, output: outputs.take(item, callId, index) });
    if (!isEmpty(item)) repaired.push(item);
  }
  closeCalls();
  return withoutIdleReasoning(repaired);
}

/** The outputs of a history by call id, in order. */
class OutputQueues {
  readonly #queues = new Map<string, { index: number; output: Output }[]>();
  /** Calls with the response they are in: an id may come again in a later one. */
  readonly #calls = new Map<string, { index: number; response: number }[]>();

  constructor(items: readonly HistoryItem[]) {
    let response = 0;
    for (const [index, item] of items.entries()) {
      if (isOutput(item) || !isFromModel(item)) response++;
      const callId = isOutput(item) ? idOfCall(item) : callIdOf(item);
      if (callId === null) continue;
      if (isOutput(item)) push(this.#queues, callId, { index, output: item });
      else push(this.#calls, callId, { index, response });
    }
  }

  /** The first output that is left between the call and the next response with its id, in the kind the call asks for. */
  take(call: HistoryItem, callId: string, index: number): Output | null {
    const calls = this.#calls.get(callId) ?? [];
    const own = calls.find(other => other.index === index);
    const next = calls.find(other => other.index > index && other.response !== own?.response);
    const queue = this.#queues.get(callId) ?? [];
    const at = queue.findIndex(entry => entry.index > index);
    const found = queue[at];
    if (found === undefined || (next !== undefined && found.index > next.index)) return null;
    queue.splice(at, 1);
    return inKindOf(call, callId, found.output);
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** What a provider found by itself answers no call of ours. */
function isOutput(item: HistoryItem): item is Output {
  if (item.type === 'tool_search_output') return item['execution'] === 'client' && idOfCall(item) !== null;
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

function isFromModel(item: HistoryItem): boolean {
  return item.type === 'message' ? item.role === 'assistant' : item.type !== 'compaction';
}

/** Null for items that ask for no output of ours; a search that the provider does by itself is one. */
function callIdOf(item: HistoryItem): string | null {
  if (item.type === 'function_call' || item.type === 'custom_tool_call') return item.call_id;
  const asks = item.type === 'local_shell_call' || (item.type === 'tool_search_call' && item['execution'] === 'client');
  return asks ? idOfCall(item) : null;
}

function idOfCall(item: HistoryItem): string | null {
  return 'call_id' in item && typeof item.call_id === 'string' ? item.call_id : null;
}

function lostOutput(call: HistoryItem, callId: string): HistoryItem {
  return outputFor(call, callId, LOST_OUTPUT);
}

function outputFor(call: HistoryItem, callId: string, output: ToolOutput): Output {
  if (call.type === 'custom_tool_call') return { type: 'custom_tool_call_output', call_id: callId, output };
  if (call.type !== 'tool_search_call') return { type: 'function_call_output', call_id: callId, output };
  return { type: 'tool_search_output', call_id: callId, status: 'completed', execution: 'client', tools: [] };
}

function inKindOf(call: HistoryItem, callId: string, output: Output): Output {
  const wanted = outputFor(call, callId, LOST_OUTPUT);
  if (wanted.type === output.type) return output;
  return output.type === 'tool_search_output' ? wanted : outputFor(call, callId, output.output);
}

function isEmpty(item: HistoryItem): boolean {
  return item.type === 'message' && item.content.every(isEmptyPart);
}

function isEmptyPart(part: ContentPart): boolean {
  return part.type !== 'input_image' && part.text === '';
}

/** Reasoning stays when something of the same response follows it. */
function withoutIdleReasoning(items: readonly HistoryItem[]): HistoryItem[] {
  let leads = false;
  const kept: HistoryItem[] = [];
  for (const item of items.toReversed()) {
    if (item.type !== 'reasoning') leads = isFromModel(item) && !isOutput(item);
    if (item.type !== 'reasoning' || leads) kept.push(item);
  }
  return kept.reverse();
}
