/** Looks for a regular expression in files. */
import type { ParsedCommand } from '../protocol/index.js';
import { ripgrepArgv, runRipgrep } from './ripgrep.js';
import { showLookup } from './show-lookup.js';
import type { ToolAction, ToolContext, ToolResult } from './tool.js';

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_LINE = 500;
const DEFAULT_LIMIT = 250;

export type SearchFilesCall = {
  /** A regular expression in the syntax of ripgrep. */
  readonly pattern: string;
  /** File or folder; default: the working directory. */
  readonly path?: string | undefined;
  /** Only files that match this glob. */
  readonly glob?: string | undefined;
  /** Only files of this type, as ripgrep names them: `ts`, `py`. */
  readonly type?: string | undefined;
  readonly show: 'lines' | 'files' | 'counts';
  readonly ignore_case?: boolean | undefined;
  /** Default true. */
  readonly line_numbers?: boolean | undefined;
  /** Lines shown before and after a match. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** The expression may match across lines. */
  readonly multiline?: boolean | undefined;
  readonly include_ignored?: boolean | undefined;
  /** Lines or files that are left out at the start. */
  readonly offset?: number | undefined;
  /** The most lines or files; 0 = no limit but that of the output. Default 250. */
  readonly limit?: number | undefined;
};

export const searchFiles: ToolAction<SearchFilesCall> = {
  parallel: true,
  plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
  run,
};

async function run(call: SearchFilesCall, context: ToolContext): Promise<ToolResult> {
  const argv = ripgrepArgv(argumentsOf(call), call.path, context.cwd);
  const parsed: ParsedCommand = {
    type: 'search',
    cmd: argv.join(' '),
    query: call.pattern,
    path: call.path ?? null,
  };
  const lookup = showLookup(context, argv, [parsed]);
  const result = await runRipgrep(argv, MAX_BYTES, context);
  const failed = result.type === 'failed';
  const text = failed ? result.message : present(result.lines, result.stopped, call, context.output_budget_bytes);
  lookup.end(text, !failed);
  return { output: text, is_error: failed };
}

function argumentsOf(call: SearchFilesCall): string[] {
  const args = ['--engine=auto', '--with-filename', '--no-heading', `--max-columns=${MAX_LINE}`];
  args.push('--max-columns-preview');
  if (call.show === 'files') args.push('--files-with-matches', '--sortr=modified');
  else args.push('--sort=path');
  if (call.show === 'counts') args.push('--count');
  if (call.show === 'lines') {
    args.push(call.line_numbers === false ? '--no-line-number' : '--line-number');
    if (call.before) args.push(`--before-context=${lineCount(call.before)}`);
    if (call.after) args.push(`--after-context=${lineCount(call.after)}`);
  }
  if (call.ignore_case) args.push('--ignore-case');
  if (call.multiline) args.push('--multiline', '--multiline-dotall');
  if (call.include_ignored) args.push('--no-ignore');
  if (call.type) args.push(`--type=${call.type}`);
  if (call.glob) args.push(`--glob=${call.glob}`);
  args.push(`--regexp=${call.pattern}`);
  return args;
}

const lineCount = (wanted: number) => Math.min(1000, Math.max(0, Math.floor(wanted)));

function present(all: readonly string[], stopped: string | null, call: SearchFilesCall, budget: number): string {
  const first = Math.max(0, Math.floor(call.offset ?? 0));
  const limit = call.limit === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(call.limit ?? DEFAULT_LIMIT));
  const what = call.show === 'lines' ? 'lines' : 'files';
  return cutList(all, { first, limit, budget, what, stopped, none: 'No matches found.' });
}

export type ListLimits = {
  /** Entries left out at the start. */
  readonly first: number;
  readonly limit: number;
  /** UTF-8 bytes. */
  readonly budget: number;
  /** What the entries are called. */
  readonly what: string;
  /** Why there may be more than these; null = there are not. */
  readonly stopped: string | null;
  /** Said when there are none. */
  readonly none: string;
};

/** The entries that fit, one a line, and what was left out. */
export function cutList(all: readonly string[], limits: ListLimits): string {
  const { first, limit, budget, what, stopped, none } = limits;
  if (all.length === 0) return stopped === null ? none : `${none} But ${stopped}, so this is not certain.`;
  const shown: string[] = [];
  let size = 0;
  for (const entry of all.slice(first, first + Math.min(limit, all.length))) {
    size += Buffer.byteLength(entry) + 1;
    if (size > budget) break;
    shown.push(entry);
  }
  const rest = all.length - first - shown.length;
  if (rest > 0 || first > 0 || stopped !== null) {
    const of = `${all.length}${stopped === null ? '' : ' or more'}`;
    const range = shown.length === 0 ? 'none' : `${first + 1} to ${first + shown.length}`;
    shown.push(`(${what} ${range} of ${of}${stopped === null ? '' : `; ${stopped}`})`);
  }
  return shown.join('\n');
}
