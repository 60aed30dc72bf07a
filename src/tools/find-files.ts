/** Looks for files by a glob. */
import path from 'node:path';
import { ripgrepArgv, runRipgrep } from './ripgrep.js';
import { cutList } from './search-files.js';
import { showLookup } from './show-lookup.js';
import type { ToolAction, ToolContext, ToolResult } from './tool.js';

/** Of all names below the folder. */
const MAX_BYTES = 32 * 1024 * 1024;
const DEFAULT_LIMIT = 100;

export type FindFilesCall = {
  /** Relative to `path`, or absolute. Without a slash it is a name at any depth. */
  readonly pattern: string;
  /** The folder to look in; default: the working directory. */
  readonly path?: string | undefined;
  readonly include_ignored?: boolean | undefined;
  /** Folders that hold files are found as well. */
  readonly include_folders?: boolean | undefined;
  /** Default 100. */
  readonly limit?: number | undefined;
};

export const findFiles: ToolAction<FindFilesCall> = {
  parallel: true,
  plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
  run,
};

async function run(call: FindFilesCall, context: ToolContext): Promise<ToolResult> {
  const search = await searchOf(call, context.cwd);
  const args = ['--files', '--sortr=modified', ...(call.include_ignored ? ['--no-ignore'] : [])];
  const argv = ripgrepArgv(args, search.folder, context.cwd);
  const shownArgv = [...argv.slice(0, -2), '--glob', search.pattern, ...argv.slice(-2)];
  const lookup = showLookup(context, shownArgv, [
    { type: 'list_files', cmd: shownArgv.join(' '), path: call.path ?? null },
  ]);
  // Filtered here: for ripgrep a glob beats .gitignore, so that `**` would list what nobody wants to see.
  const result = await runRipgrep(argv, MAX_BYTES, context);
  if (result.type === 'failed') {
    lookup.end(result.message, false);
    return { output: result.message, is_error: true };
  }
  const found = result.lines.flatMap(line => matching(line, search, call, context.cwd));
  const text = cutList([...new Set(found)], {
    first: 0,
    limit: call.limit ?? DEFAULT_LIMIT,
    budget: context.output_budget_bytes,
    what: call.include_folders ? 'entries' : 'files',
    stopped: result.stopped,
    none: 'No files found.',
  });
  lookup.end(text, true);
  return { output: text, is_error: false };
}

type Search = {
  /** Absolute. */
  readonly folder: string;
  readonly pattern: string;
  /** For paths relative to `folder`. */
  readonly matches: (name: string) => boolean;
};

async function searchOf(call: FindFilesCall, cwd: string): Promise<Search> {
  const { default: picomatch } = await import('picomatch');
  const folder = path.resolve(cwd, call.path ?? '.');
  const absolute = path.isAbsolute(call.pattern) ? picomatch.scan(call.pattern) : null;
  const pattern = absolute ? absolute.glob || '**' : call.pattern.replace(/^\.\//, '');
  return {
    folder: absolute ? absolute.base : folder,
    pattern,
    matches: picomatch(absolute || pattern.includes('/') ? pattern : `**/${pattern}`, { dot: true }),
  };
}

/** The file, and the folders above it where those count; relative to the working directory where they lie in it. */
function matching(line: string, search: Search, call: FindFilesCall, cwd: string): string[] {
  const file = path.resolve(cwd, line);
  const name = path.relative(search.folder, file);
  const found = search.matches(name) ? [line] : [];
  if (!call.include_folders) return found;
  for (let parent = path.dirname(name); parent !== '.'; parent = path.dirname(parent)) {
    if (!search.matches(parent)) continue;
    const shown = path.relative(cwd, path.join(search.folder, parent));
    found.push(`${shown.startsWith('..') ? path.join(search.folder, parent) : shown}/`);
  }
  return found;
}
