/** One command under a policy, on our own standard streams. */
import { constants } from 'node:os';
import type { CommandResult, SandboxPolicy } from '../protocol/index.js';
import type { Sandbox } from '../sandbox/index.js';
import { onAbort } from '../util/index.js';

export type RunInSandboxOptions = {
  readonly sandbox: Sandbox;
  readonly policy: SandboxPolicy;
  /** Absolute; the workspace too. */
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  /** Receives what we have to say, with line ends. */
  readonly writeError: (text: string) => void;
};

/** Nothing ran. */
const NOT_STARTED = 1;
const NOT_FOUND = 127;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves to the exit code of the command (128 + n after a signal), 127 when there is no such command, 1 when the
 * sandbox could not be made. A signal to us goes to the command and all it has started.
 */
export async function runInSandbox(options: RunInSandboxOptions): Promise<number> {
  const { sandbox, policy, cwd, env, argv, writeError } = options;
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => stop.abort(signal);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const command = await sandbox.attach({ argv, cwd, workspace: cwd, env, policy }, process.stdin.isTTY === true);
    if ('type' in command) {
      writeError(`${command.message}\n`);
      return command.reason === 'missing' ? NOT_FOUND : NOT_STARTED;
    }
    onAbort(stop.signal, () => command.kill('aborted'));
    return await exitCodeOf(await command.ended, options, stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

async function exitCodeOf(result: CommandResult, options: RunInSandboxOptions, stop: AbortSignal): Promise<number> {
  switch (result.type) {
    case 'exited':
      return result.exit_code;
    case 'not_started':
      options.writeError(`${await explain(options, result.message)}\n`);
      return result.reason === 'missing' ? NOT_FOUND : NOT_STARTED;
    case 'timed_out':
    case 'aborted':
      return exitCodeAfter(stop.reason);
  }
}

function exitCodeAfter(signal: unknown): number {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return 128 + number;
}

/** What the sandbox said went to our stderr: asked once more, it says why. */
async function explain({ sandbox, policy, cwd }: RunInSandboxOptions, message: string): Promise<string> {
  const check = await sandbox.check(policy, cwd);
  return check.ok ? message : check.message;
}
