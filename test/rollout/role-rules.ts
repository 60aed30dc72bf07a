/** The rules of the three wire APIs about who may speak after whom, checked on a history. Returns what is broken. */
import type { HistoryItem } from '../../src/protocol/index.js';

type Role = 'assistant' | 'other';

const isCall = (item: HistoryItem) =>
  item.type === 'function_call' ||
  item.type === 'custom_tool_call' ||
  item.type === 'local_shell_call' ||
  (item.type === 'tool_search_call' && item['execution'] === 'client');

const isOutput = (item: HistoryItem) =>
  item.type === 'function_call_output' ||
  item.type === 'custom_tool_call_output' ||
  (item.type === 'tool_search_output' && item['execution'] === 'client');

const idOf = (item: HistoryItem): unknown => ('call_id' in item ? item.call_id : undefined);

const OUTPUT_OF: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  tool_search_call: 'tool_search_output',
};

/** Responses: every call has one output of its kind after it, every output a call; reasoning leads to something. */
function responsesFaults(history: readonly HistoryItem[]): string[] {
  const faults: string[] = [];
  const open: HistoryItem[] = [];
  for (const [index, item] of history.entries()) {
    if (isCall(item)) open.push(item);
    if (isOutput(item)) {
      const at = open.findIndex(call => idOf(call) === idOf(item) && OUTPUT_OF[call.type] === item.type);
      if (at === -1) faults.push(`${index}: ${item.type} without a call`);
      else open.splice(at, 1);
    }
    if (item.type === 'reasoning') {
      const next = history.slice(index + 1).find(other => other.type !== 'reasoning');
      if (next === undefined || isOutput(next) || roleOf(next) === 'other') faults.push(`${index}: idle reasoning`);
    }
  }
  return [...faults, ...open.map(call => `${call.type} ${String(idOf(call))} without an output`)];
}

/** Chat: the outputs of an assistant message's calls follow it directly, before anybody else speaks. */
function chatFaults(history: readonly HistoryItem[]): string[] {
  const faults: string[] = [];
  let asked: unknown[] = [];
  let answering = false;
  for (const [index, item] of history.entries()) {
    if (isOutput(item)) {
      answering = true;
      const at = asked.indexOf(idOf(item));
      if (at === -1) faults.push(`${index}: tool message without a call before it`);
      else asked.splice(at, 1);
      continue;
    }
    const startsMessage = roleOf(item) === 'other' || answering;
    if (startsMessage && asked.length > 0) faults.push(`${index}: unanswered calls before another message`);
    if (startsMessage) asked = [];
    answering = false;
    if (isCall(item)) asked.push(idOf(item));
  }
  return asked.length > 0 ? [...faults, 'unanswered calls at the end'] : faults;
}

/** Messages: as chat (tool results open the next user message), and no message is empty. */
function messagesFaults(history: readonly HistoryItem[]): string[] {
  const empty = history.flatMap((item, index) =>
    item.type === 'message' && !item.content.some(part => part.type === 'input_image' || part.text !== '')
      ? [`${index}: empty message`]
      : [],
  );
  return [...chatFaults(history), ...empty];
}

function roleOf(item: HistoryItem): Role {
  if (item.type === 'compaction') return 'other';
  return item.type === 'message' && item.role !== 'assistant' ? 'other' : 'assistant';
}

export function allFaults(history: readonly HistoryItem[]): string[] {
  return [...responsesFaults(history), ...chatFaults(history), ...messagesFaults(history)];
}
