/**
 * Runs ripgrep for the tools that look for files and in files. As a command under the policy of the call and not in this
 * process: the sandbox then keeps it from what may not be read, and it knows regular expressions, file types and
 * .gitignore better than we would.
 */
import path from 'node:path';
import type { CommandResult } from '../protocol/index.js';
import { CappedBytes, onAbort } from '../util/index.js';
import type { ToolContext } from './tool.js';

/** A search that takes longer gives what it has found. */
const LIMIT_MS = 30_000;
const MAX_ERROR_BYTES = 4096;

/** Hidden files count, except what version control keeps for itself. */
const ALWAYS = ['--no-config', '--color=never', '--no-require-git', '--hidden'];
const NEVER_SEARCHED = ['.git', '.svn', '.hg', '.jj'].flatMap(name => ['--glob', `!${name}`]);

/** `target`: a file or folder, absolute or relative to the working directory. */
export function ripgrepArgv(args: readonly string[], target: string | undefined, cwd: string): string[] {
  const relative = path.relative(cwd, path.resolve(cwd, target ?? '.'));
  const outside = relative === '..' || relative.startsWith(`..${path.sep}`);
  const where = outside ? path.resolve(cwd, target ?? '.') : `./${relative}`;
  return ['rg', ...ALWAYS, ...args, ...NEVER_SEARCHED, '--', where];
}

export type RipgrepResult =
  /** `stopped`: why there may be more; null = this is all. */
  | { readonly type: 'found'; readonly lines: readonly string[]; readonly stopped: string | null }
  | { readonly type: 'failed'; readonly message: string };

/** `maxBytes`: of its output; it is ended when it has more to say. */
export async function runRipgrep(
  argv: readonly string[],
  maxBytes: number,
  context: ToolContext,
): Promise<RipgrepResult> {
  const { runner, cwd, workspace, env, policy, signal } = context;
  if (signal.aborted) return { type: 'failed', message: 'aborted by user' };
  const command = await runner.start({ argv, cwd, workspace, env, policy });
  if ('type' in command) return { type: 'failed', message: `The search was not run: ${command.message}` };
  const out = new CappedBytes(maxBytes);
  const errors = new CappedBytes(MAX_ERROR_BYTES);
  command.onOutput((chunk, stream) => {
    if (stream === 'stderr') errors.add(chunk);
    else if (!out.add(chunk)) command.kill('aborted', 0);
  });
  const timer = setTimeout(() => command.kill('timed_out', 0), LIMIT_MS);
  const stopListening = onAbort(signal, () => command.kill('aborted', 0));
  try {
    return toResult(await command.ended, out, errors, signal);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

function toResult(result: CommandResult, out: CappedBytes, errors: CappedBytes, signal: AbortSignal): RipgrepResult {
  if (signal.aborted) return { type: 'failed', message: 'aborted by user' };
  const lines = wholeLines(out.bytes().toString());
  const found = (stopped: string | null): RipgrepResult => ({ type: 'found', lines, stopped });
  switch (result.type) {
    case 'exited': {
      // 1: nothing matched; 2: something could not be read, whatever else was found.
      if (result.exit_code === 0 || result.exit_code === 1 || lines.length > 0) return found(null);
      const said = errors.bytes().toString().trim() || `it ended with exit code ${result.exit_code}`;
      const missing = result.exit_code === 127 ? '. Search with a command instead' : '';
      return { type: 'failed', message: `The search failed: ${said}${missing}` };
    }
    case 'timed_out':
      return found(`the search was ended after ${LIMIT_MS / 1000} seconds`);
    case 'aborted':
      return found('there is too much to list');
    case 'not_started':
      return { type: 'failed', message: `The search was not run: ${result.message}` };
  }
}

/** The cut rest of a line is left out. */
function wholeLines(text: string): string[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.map(line => (line.startsWith('./') ? line.slice(2) : line));
}
