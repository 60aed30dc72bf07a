/** `interpreter sandbox`: one command under a policy, on our own standard streams. */
import type { SandboxPolicy } from '../protocol/index.js';
import type { Sandbox } from '../sandbox/index.js';

export type SandboxCommandOptions = {
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
const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Resolves to the exit code of the command (128 + n after a signal), 127 when there is no such command, 1 when the
 * sandbox could not be made. Closes the sandbox. A signal to us goes to the command and all it has started.
 */
export async function runSandboxCommand(options: SandboxCommandOptions): Promise<number> {
  const { sandbox, policy, cwd, env, argv, writeError } = options;
  let received: (typeof SIGNALS)[number] | null = null;
  let stop = () => {};
  const listeners = SIGNALS.map(signal => {
    const listener = () => {
      received ??= signal;
      stop();
    };
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  try {
    const command = await sandbox.attach({ argv, cwd, workspace: cwd, env, policy }, process.stdin.isTTY === true);
    if ('type' in command) {
      writeError(`${command.message}\n`);
      return command.reason === 'missing' ? NOT_FOUND : NOT_STARTED;
    }
    stop = () => command.kill('aborted');
    // The signal may have come while the command was being started.
    if (received !== null) stop();
    const result = await command.ended;
    if (received !== null) return SIGNAL_EXIT[received];
    switch (result.type) {
      case 'exited':
        return result.exit_code;
      case 'not_started':
        writeError(`${await explain(options, result.message)}\n`);
        return result.reason === 'missing' ? NOT_FOUND : NOT_STARTED;
      case 'timed_out':
      case 'aborted':
        return NOT_STARTED;
    }
  } finally {
    for (const [signal, listener] of listeners) process.off(signal, listener);
    await sandbox.close();
  }
}

/** What the sandbox said went to our stderr: asked once more, it says why. */
async function explain({ sandbox, policy, cwd }: SandboxCommandOptions, message: string): Promise<string> {
  const check = await sandbox.check(policy, cwd);
  return check.ok ? message : check.message;
}
