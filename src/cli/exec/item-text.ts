/** Items as lines for a person. */
import path from 'node:path';
import type { ApprovalRequest, FileChange, Item, McpToolCallItem } from '../../protocol/index.js';
import { joinShellWords } from '../../util/index.js';
import { duration, firstLines, printable } from '../plain-text.js';

const MAX_OUTPUT_LINES = 20;
const MAX_ARGUMENTS = 200;

type Paint = (text: string) => string;
export type Colors = { bold: Paint; dim: Paint; red: Paint; green: Paint; yellow: Paint; cyan: Paint; magenta: Paint };

/** What to print when an item begins; null for nothing. */
export function startedText(item: Item, c: Colors): string | null {
  switch (item.type) {
    case 'command_execution':
      return `${c.magenta('exec')}\n${c.bold(commandText(item.command))} ${c.dim(`in ${printable(item.cwd)}`)}`;
    case 'mcp_tool_call':
      return `${c.magenta('tool')} ${c.bold(toolText(item))}`;
    case 'compaction':
      return c.dim('The thread is being compacted.');
    case 'agent_message':
    case 'reasoning':
    case 'file_change':
    case 'web_search':
    case 'image_view':
    case 'plan':
    case 'user_message':
    case 'warning':
      return null;
  }
}

/** What to print when an item is whole; null for nothing. `cwd`: paths below it are shown relative to it. */
export function completedText(item: Item, c: Colors, cwd: string): string | null {
  switch (item.type) {
    case 'reasoning': {
      const text = item.summary.join('\n') || item.raw.join('\n');
      return text === '' ? null : c.dim(printable(text));
    }
    case 'command_execution': {
      const output = firstLines(printable(item.aggregated_output), MAX_OUTPUT_LINES);
      const ended = `${commandEnd(item)}${item.duration_ms === null ? '' : ` in ${duration(item.duration_ms)}`}`;
      const head = item.status === 'completed' ? c.green(` ${ended}`) : c.red(` ${ended}`);
      return output === '' ? head : `${head}${c.dim(':')}\n${c.dim(output)}`;
    }
    case 'file_change':
      return changeText(item, c, cwd);
    case 'mcp_tool_call':
      return mcpEnd(item, c);
    case 'web_search':
      return `${c.magenta('web search')} ${printable(item.query)}`;
    case 'image_view':
      return `${c.magenta('image')} ${shownPath(item.path, cwd)}`;
    case 'plan':
      return [
        c.magenta('plan'),
        ...item.steps.map(({ step, status }) => `${stepMark(status)} ${printable(step)}`),
      ].join('\n');
    case 'warning':
      return c.yellow(`warning: ${printable(item.message)}`);
    case 'compaction':
      return c.dim('The thread was compacted.');
    case 'agent_message':
    case 'user_message':
      return null;
  }
}

/** What a question is about, in one line. */
export function questionText(request: ApprovalRequest): string {
  switch (request.type) {
    case 'command':
      return commandText(request.command);
    case 'patch':
      return `a patch of ${Object.keys(request.changes).length} files`;
    case 'mcp_tool':
      return `${request.server}.${request.tool}`;
    case 'elicitation':
      return `${request.server}: ${printable(request.message)}`;
  }
}

/** A unified diff with colours. */
export function diffText(diff: string, c: Colors): string {
  return printable(diff)
    .trimEnd()
    .split('\n')
    .map(line => {
      if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity|rename )/.test(line)) {
        return c.bold(line);
      }
      if (line.startsWith('@@')) return c.cyan(line);
      if (line.startsWith('+')) return c.green(line);
      return line.startsWith('-') ? c.red(line) : line;
    })
    .join('\n');
}

export function commandText(words: readonly string[]): string {
  return printable(joinShellWords(words));
}

function commandEnd(item: Item & { type: 'command_execution' }): string {
  if (item.status === 'declined') return 'was declined';
  if (item.status === 'completed') return 'succeeded';
  return item.exit_code === null || item.exit_code < 0 ? 'was ended' : `exited ${item.exit_code}`;
}

function changeText(item: Item & { type: 'file_change' }, c: Colors, cwd: string): string {
  const lines = Object.entries(item.changes).map(([file, change]) => `${changeMark(change)} ${shownPath(file, cwd)}`);
  const state = item.status === 'completed' ? c.green('completed') : c.red(item.status);
  const error = item.status === 'failed' && item.stderr !== '' ? [c.red(printable(item.stderr.trimEnd()))] : [];
  return [`${c.magenta('patch')} ${state}`, ...lines, ...error].join('\n');
}

function changeMark(change: FileChange): string {
  return { add: 'A', delete: 'D', update: 'M' }[change.type];
}

function shownPath(file: string, cwd: string): string {
  const below = path.relative(cwd, file);
  return printable(below === '' || below.startsWith('..') || path.isAbsolute(below) ? file : below);
}

function toolText(item: McpToolCallItem): string {
  const text = printable(JSON.stringify(item.arguments) ?? '');
  return printable(
    `${item.server}.${item.tool}(${text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS)}…` : text})`,
  );
}

function mcpEnd(item: McpToolCallItem, c: Colors): string {
  const time = item.duration_ms === null ? '' : ` in ${duration(item.duration_ms)}`;
  if (item.error) return c.red(` failed${time}: ${printable(item.error.message)}`);
  const failed = item.status === 'failed' || item.result?.is_error === true;
  return failed ? c.red(` failed${time}`) : c.green(` succeeded${time}`);
}

function stepMark(status: 'pending' | 'in_progress' | 'completed'): string {
  return { pending: '[ ]', in_progress: '[>]', completed: '[x]' }[status];
}
