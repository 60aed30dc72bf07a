/** Runs one small command of our own (git, a hook, an auth helper) and collects what it printed. */
import type { CommandResult, CommandRunner, CommandSpec } from '../protocol/index.js';
import { CappedBytes, onAbort } from '../util/index.js';

export type RunToEndOptions = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Kept of stdout and of stderr, each; what comes after is dropped. */
  readonly maxBytes: number;
  /** What its standard input gives before the end of file. */
  readonly input?: string | Buffer;
};

export type Collected = { readonly result: CommandResult; readonly stdout: Buffer; readonly stderr: Buffer };

/** Never throws for what the command does; a command that can't be started is a `not_started` result. */
export async function runToEnd(
  runner: CommandRunner,
  spec: CommandSpec,
  { timeoutMs, signal, maxBytes, input }: RunToEndOptions,
): Promise<Collected> {
  if (signal?.aborted) return { result: { type: 'aborted' }, stdout: EMPTY, stderr: EMPTY };
  const command = await runner.start(input === undefined ? spec : { ...spec, stdin: { bytes: input } });
  if ('type' in command) return { result: command, stdout: EMPTY, stderr: EMPTY };

  const kept = { stdout: new CappedBytes(maxBytes), stderr: new CappedBytes(maxBytes) };
  command.onOutput((chunk, stream) => void kept[stream].add(chunk));
  const timer = setTimeout(() => command.kill('timed_out'), timeoutMs);
  const stopListening = signal ? onAbort(signal, () => command.kill('aborted')) : () => {};
  try {
    const result = await command.ended;
    return { result, stdout: kept.stdout.bytes(), stderr: kept.stderr.bytes() };
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

const EMPTY = Buffer.alloc(0);
