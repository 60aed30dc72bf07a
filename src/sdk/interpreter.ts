/** The door of the library: starts, resumes and lists threads. */
import type { ThreadSummary } from '../protocol/index.js';
import { InterpreterError } from './errors.js';
import { runToEnd } from './exec-process.js';
import type { InterpreterOptions, ThreadOptions } from './options.js';
import { findProgram, programEnvironment } from './program.js';
import { Thread } from './thread.js';

export type ListOptions = {
  /** Only threads whose latest turn ran in this directory. */
  cwd?: string;
  /** At most so many, newest first. */
  limit?: number;
  /** Default: threads that are not archived. */
  archived?: 'no' | 'only' | 'both';
  signal?: AbortSignal;
};

/** Threads of the home that the environment names. Nothing is started before the first turn. */
export class Interpreter {
  readonly #options: InterpreterOptions;

  constructor(options: InterpreterOptions = {}) {
    this.#options = options;
  }

  /** A new thread. */
  startThread(options: ThreadOptions = {}): Thread {
    return new Thread(this.#options, options, null);
  }

  /** A thread that was run before, also by `interpreter exec` or over MCP. It goes on with these options. */
  resumeThread(id: string, options: ThreadOptions = {}): Thread {
    return new Thread(this.#options, options, id);
  }

  /** Newest first. Throws AbortError, ProgramNotStartedError or ExecError. */
  async listThreads({ cwd, limit, archived, signal }: ListOptions = {}): Promise<ThreadSummary[]> {
    const args = ['threads', 'list', '--json'];
    if (cwd !== undefined) args.push('--cwd', cwd);
    if (limit !== undefined) args.push('--limit', String(limit));
    if (archived !== undefined) args.push('--archived', archived);
    const text = await runToEnd({
      program: findProgram(this.#options),
      args,
      env: programEnvironment(this.#options),
      ...(signal ? { signal } : {}),
    });
    try {
      return JSON.parse(text) as ThreadSummary[];
    } catch (error) {
      throw new InterpreterError(`\`interpreter threads list\` printed no JSON: ${text.slice(0, 200)}`, {
        cause: error,
      });
    }
  }
}
