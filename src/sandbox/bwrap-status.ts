/** What became of a command in bubblewrap: bubblewrap's own account of it, and what that means. */
import type { CommandResult, CommandSpec } from '../protocol/index.js';
import { type ChildExit, exitCodeOf, signalName } from './child.js';
import { explainBwrapFailure, refusal } from './enforcement.js';
import { openForReading, type PipePool } from './pipe-pool.js';

/** Where bubblewrap writes that it has run the command, and how that ended; the command itself can't write there. */
export type Status = {
  /** Our descriptor, for bubblewrap. */
  readonly fd: number;
  /** Resolves at the end of bubblewrap. */
  readonly text: Promise<string>;
  drop(): void;
};

export async function openStatus(pool: PipePool): Promise<Status> {
  const [name = ''] = await pool.take(1);
  const { ours, theirs } = openForReading(name);
  const chunks: Buffer[] = [];
  ours.on('data', chunk => chunks.push(chunk));
  const text = new Promise<string>(resolve => {
    // An error is followed by the end, and what was read until then counts.
    ours.on('error', () => {});
    ours.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
  return { fd: theirs, text, drop: () => ours.destroy() };
}

/**
 * `head` is the beginning of stderr (of the whole output on a terminal). `status` null: bubblewrap could not be asked,
 * and its words decide.
 */
export function bwrapResult(spec: CommandSpec, exit: ChildExit, head: string, status: string | null): CommandResult {
  const exit_code = exitCodeOf(exit);
  const missing = /^bwrap: execvp .*?: (.*?)\r?$/m.exec(head)?.[1];
  if (missing !== undefined && exit_code === 1) {
    return {
      type: 'not_started',
      reason: 'missing',
      message: `${spec.argv[0] ?? ''} can't be started in the sandbox: ${missing}.`,
    };
  }
  const ran = status === null ? exit_code !== 1 || !/^bwrap: /m.test(head) : status.includes('"exit-code"');
  if (ran || exit.code === null) {
    return { type: 'exited', exit_code, signal: exit.signal ?? (exit_code > 128 ? signalName(exit_code - 128) : null) };
  }
  return { type: 'not_started', reason: 'sandbox', message: refusal(spec.policy, explainBwrapFailure(head)) };
}
