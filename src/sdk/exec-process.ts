/** One run of the program: its arguments and prompt in, its events out. It never outlives its reader. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Duplex, type Readable } from 'node:stream';
import { LineSplitter, messageOf, onAbort, within } from '../util/index.js';
import { AbortError, ExecError, InterpreterError, ProgramNotStartedError } from './errors.js';
import type { ThreadEvent } from './events.js';
import type { Program } from './program.js';

export type ExecRun = {
  readonly program: Program;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Goes to standard input. */
  readonly prompt: string;
  readonly signal?: AbortSignal;
  /** Takes the other end of the program's descriptor 3, and returns the way to let go of it. */
  readonly channel?: (socket: Duplex) => () => void;
};

/** After this the program, which ends its commands first, is cut off. */
const PATIENCE_MS = 2000;
const STDERR_KEPT = 64 * 1024;

/**
 * The events as they come. Throws AbortError, ProgramNotStartedError or ExecError; the program and all it has started are
 * gone then, as they are when the reader stops early.
 */
export async function* runExec(run: ExecRun): AsyncGenerator<ThreadEvent, void, undefined> {
  for await (const line of runLines(run)) yield parsed(line);
}

async function* runLines(run: ExecRun): AsyncGenerator<string, void, undefined> {
  const { signal } = run;
  if (signal?.aborted) throw new AbortError(signal.reason);
  const child = new Child(run);
  try {
    for await (const line of child.lines()) {
      if (signal?.aborted) break;
      yield line;
    }
    if (!signal?.aborted) {
      const end = await child.ended;
      if (!signal?.aborted && (end.exitCode !== 0 || end.signal !== null)) throw new ExecError(end);
    }
  } finally {
    await child.stop();
  }
  if (signal?.aborted) throw new AbortError(signal.reason);
}

/** Everything the program prints, for commands that do not stream. Throws as `runExec` does. */
export async function runToEnd(run: Omit<ExecRun, 'prompt' | 'channel'>): Promise<string> {
  const lines: string[] = [];
  for await (const line of runLines({ ...run, prompt: '' })) lines.push(line);
  return lines.join('\n');
}

type End = { readonly exitCode: number | null; readonly signal: string | null; readonly stderr: string };

class Child {
  readonly #process: ChildProcess;
  readonly #stdout: Readable;
  readonly #release: () => void;
  /** Why it could not be started. */
  #fault: Error | null = null;
  #stderr = '';
  readonly ended: Promise<End>;

  constructor({ program, args, env, prompt, signal, channel }: ExecRun) {
    this.#process = spawn(program.file, [...program.args, ...args], {
      env: { ...env },
      stdio: channel ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
    });
    const { stdin, stdout, stderr, stdio } = this.#process;
    if (!stdin || !stdout || !stderr) throw new InterpreterError('The program was started without its streams.');
    this.#stdout = stdout;
    this.#process.once('error', error => {
      this.#fault = new ProgramNotStartedError(`${program.file} could not be started: ${messageOf(error)}`, {
        cause: error,
      });
    });
    this.ended = new Promise(resolve => {
      this.#process.once('close', (exitCode, killedBy) => {
        resolve({ exitCode, signal: killedBy, stderr: this.#stderr });
      });
    });
    stderr.on('data', (piece: Buffer) => {
      this.#stderr = (this.#stderr + piece.toString('utf8')).slice(-STDERR_KEPT);
    });
    // It may end before it has read its prompt; its exit code and stderr say why.
    stdin.on('error', () => {});
    stdin.end(prompt);
    const socket = stdio[3];
    const letGo = channel && socket instanceof Duplex ? channel(socket) : () => {};
    const stopListening = signal ? onAbort(signal, () => this.#process.kill('SIGTERM')) : () => {};
    this.#release = () => {
      letGo();
      stopListening();
    };
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    const splitter = new LineSplitter();
    for await (const piece of this.#stdout) yield* splitter.push(piece as Buffer);
    const rest = splitter.end();
    if (rest !== null) yield rest;
    if (this.#process.pid === undefined) await once(this.#process, 'close');
    if (this.#fault) throw this.#fault;
  }

  /** Ends it, if it has not ended; when this resolves it is gone. */
  async stop(): Promise<void> {
    this.#release();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null || this.#fault !== null) return;
    this.#process.kill('SIGTERM');
    // It may have something left to say before it ends.
    this.#stdout.resume();
    if ((await within(this.ended, PATIENCE_MS)) !== undefined) return;
    this.#process.kill('SIGKILL');
    await this.ended;
  }
}

function parsed(line: string): ThreadEvent {
  try {
    return JSON.parse(line) as ThreadEvent;
  } catch (error) {
    throw new InterpreterError(`Failed to parse item: ${line.slice(0, 500)}`, { cause: error });
  }
}
