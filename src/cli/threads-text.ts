/** Threads as text: a table, one thread, a transcript. Control characters of models and commands do not reach a terminal. */
import type { ContentPart, HistoryItem, ThreadSummary, ToolOutput } from '../protocol/index.js';
import { isPrompt, type ThreadRecord, type TranscriptEntry } from '../rollout/index.js';
import { truncateMiddle } from '../util/index.js';
import { oneLine, printable } from './plain-text.js';

/** `columns` null: nothing is cut. */
export type TableOptions = { readonly now: Date; readonly columns: number | null };

const HEADS = ['ID', 'UPDATED', 'STATUS', 'TOKENS', 'MODEL', 'DIRECTORY', 'TITLE'];
const MIN_TITLE = 20;
/** Of a tool call or its output in a transcript. */
const SHOWN_BYTES = 2_000;

export function threadTable(threads: readonly ThreadSummary[], { now, columns }: TableOptions): string {
  const rows = threads.map(thread => [
    thread.id,
    ago(now.getTime() - thread.updated_at_ms),
    thread.runner_pid === null ? thread.status : `${thread.status} (${thread.runner_pid})`,
    String(thread.usage.total_tokens),
    thread.model ?? '-',
    thread.cwd,
    thread.title === '' ? '-' : thread.title,
  ]);
  const table = [HEADS, ...rows].map(row => row.map(oneLine));
  const widths = HEADS.map((_, column) => Math.max(...table.map(row => row[column]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(MIN_TITLE, columns - before);
  return table.map(row => `${line(row, widths, room)}\n`).join('');
}

function line(row: readonly string[], widths: readonly number[], room: number): string {
  const title = row.at(-1) ?? '';
  const cells = row.slice(0, -1).map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return [...cells, title.length > room ? `${title.slice(0, room - 1)}…` : title].join('  ').trimEnd();
}

/** "3 min ago"; days from two days on. */
function ago(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

export function formatSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** What is known about a thread, then what was said in it. `summary` is null where no list shows the thread. */
export function formatThread(
  record: ThreadRecord,
  summary: ThreadSummary | null,
  transcript: readonly TranscriptEntry[],
): string {
  const { meta, settings, usage } = record;
  const facts: [string, string | null | undefined][] = [
    ['id', meta.id],
    ['title', summary?.title],
    ['status', summary?.status],
    ['directory', settings?.cwd ?? meta.cwd],
    ['model', settings?.model],
    ['provider', meta.model_provider],
    ['approvals', summary?.approval_policy],
    ['sandbox', settings?.sandbox_policy.type],
    ['started', `${meta.timestamp} by ${meta.source}`],
    ['updated', record.updated_at],
    ['turns', String(record.turns)],
    ['tokens', usage === null ? null : String(usage.total.total_tokens)],
    ['branch', meta.git?.branch],
    ['forked from', meta.forked_from_id],
    ['last error', record.last_turn?.error],
    ['file', record.append_point.path],
    ['damage', record.problems.length === 0 ? null : `${record.problems.length} lines can't be read`],
  ];
  const known = facts.flatMap(([name, value]) => (value == null ? [] : [`${name.padEnd(12)} ${oneLine(value)}\n`]));
  return `${known.join('')}\n${transcript.map(brief).join('')}`;
}

function brief(entry: TranscriptEntry): string {
  if (entry.type === 'compacted') return '  (older history replaced by a summary)\n';
  const { item } = entry;
  if (isPrompt(item)) return `\n> ${indent(printable(textOf(item)))}\n`;
  if (item.type === 'message' && item.role === 'assistant') return `${printable(textOf(item))}\n`;
  if (item.type === 'function_call') return `  ${oneLine(`${item.name} ${item.arguments}`).slice(0, 160)}\n`;
  if (item.type === 'custom_tool_call') return `  ${oneLine(`${item.name} ${item.input}`).slice(0, 160)}\n`;
  return '';
}

const indent = (text: string) => text.replaceAll('\n', '\n> ');

/** A thread as Markdown: prompts, answers, tool calls with their outputs (long ones cut in the middle). */
export function formatTranscript(record: ThreadRecord, transcript: readonly TranscriptEntry[]): string {
  const { meta, settings } = record;
  const head = [
    `# Thread ${meta.id}`,
    '',
    `- started ${meta.timestamp} in ${meta.cwd}`,
    `- model ${settings?.model ?? '-'}`,
  ];
  return `${head.join('\n')}\n${transcript.map(section).join('')}`;
}

function section(entry: TranscriptEntry): string {
  if (entry.type === 'compacted') return '\n---\n\n*Older history was replaced by a summary here.*\n';
  const { item } = entry;
  if (isPrompt(item)) return `\n## User\n\n${printable(textOf(item))}\n`;
  switch (item.type) {
    case 'message':
      return item.role === 'assistant' ? `\n## Agent\n\n${printable(textOf(item))}\n` : '';
    case 'reasoning': {
      const text = item.summary.map(part => part.text).join('\n\n');
      return text === '' ? '' : `\n*${oneLine(text)}*\n`;
    }
    case 'function_call':
      return `\n### ${item.name}\n\n${fenced(item.arguments)}`;
    case 'custom_tool_call':
      return `\n### ${item.name}\n\n${fenced(item.input)}`;
    case 'function_call_output':
    case 'custom_tool_call_output':
      return `\n${fenced(outputText(item.output))}`;
    case 'web_search_call':
    case 'local_shell_call':
    case 'tool_search_call':
    case 'tool_search_output':
    case 'image_generation_call':
    case 'compaction':
      return `\n*(${item.type.replaceAll('_', ' ')})*\n`;
  }
}

function fenced(text: string): string {
  const cut = truncateMiddle(printable(text), SHOWN_BYTES, removed => `\n… ${removed} bytes …\n`).text;
  const longest = Math.max(2, ...(cut.match(/`+/g) ?? []).map(ticks => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${cut.trimEnd()}\n${fence}\n`;
}

function textOf(item: HistoryItem): string {
  return item.type === 'message' ? partsText(item.content) : '';
}

function outputText(output: ToolOutput): string {
  return typeof output === 'string' ? output : partsText(output);
}

function partsText(parts: readonly ContentPart[]): string {
  return parts.map(part => (part.type === 'input_image' ? '[image]' : part.text)).join('\n');
}
