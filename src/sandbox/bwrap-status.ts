/** What became of a command in bubblewrap: bubblewrap's own account of it, and what that means. */
import type { Readable } from 'node:stream';
import type { CommandResult, CommandSpec } from '../protocol/index.js';
import { delay } from '../util/index.js';
import { type ChildExit, exitCodeOf, signalName } from './child.js';
import { explainBwrapFailure, refusal } from './enforcement.js';
import { readProcess } from './process-table.js';

/** What bubblewrap writes: that it has run the command, and how that ended. The command itself can't write there. */
export class BwrapStatus {
  #text: Promise<string> = Promise.resolve('');

  /** `report`: our end of the pipe. */
  read(report: Readable): void {
    const chunks: Buffer[] = [];
    report.on('data', (chunk: Buffer) => chunks.push(chunk));
    this.#text = new Promise(resolve => {
      // An error is followed by the end, and what was read until then counts.
      report.on('error', () => {});
      report.on('close', () => resolve(Buffer.concat(chunks).toString()));
    });
  }

  /** Resolves at the end of bubblewrap. */
  get text(): Promise<string> {
    return this.#text;
  }

  /** Resolves when the first process inside has ended, and with it the mounts of the sandbox; after 100 ms in any case. */
  async isGone(): Promise<void> {
    const pid = /"child-pid":\s*(\d+)/.exec(await this.#text)?.[1];
    if (pid === undefined) return;
    for (let step = 1; step < 64; step *= 2) {
      const first = readProcess(Number(pid));
      if (first === null || first.zombie) return;
      await delay(step);
    }
  }
}

/**
 * `head` is the beginning of stderr (of the whole output on a terminal). `status` null: bubblewrap could not be asked,
 * and its words decide.
 */
export async function bwrapResult(
  spec: CommandSpec,
  exit: ChildExit,
  head: string,
  status: BwrapStatus | null,
): Promise<CommandResult> {
  const exit_code = exitCodeOf(exit);
  // With any other code than 1 it was the command that ended.
  if (exit.code !== 1) {
    return { type: 'exited', exit_code, signal: exit.signal ?? (exit_code > 128 ? signalName(exit_code - 128) : null) };
  }
  const missing = /^bwrap: execvp .*?: (.*?)\r?$/m.exec(head)?.[1];
  if (missing !== undefined) {
    return {
      type: 'not_started',
      reason: 'missing',
      message: `${spec.argv[0] ?? ''} can't be started in the sandbox: ${missing}.`,
    };
  }
  const ran = status === null ? !/^bwrap: /m.test(head) : (await status.text).includes('"exit-code"');
  if (ran) return { type: 'exited', exit_code, signal: null };
  return { type: 'not_started', reason: 'sandbox', message: refusal(spec.policy, explainBwrapFailure(head)) };
}
