/** Runs `[model_providers.X.auth]` commands: their output is the bearer token. */
import type { RunAuthCommand } from '../providers/index.js';
import { runToEnd, type Sandbox } from '../sandbox/index.js';
import { type Env, setVariables } from '../util/index.js';
import { launchFolder } from './launch-folder.js';

/** Rejects with a message for the caller; the token is never part of it. */
export function runAuthCommand(sandbox: Sandbox, env: Env): RunAuthCommand {
  return async (auth, signal) => {
    const name = [auth.command, ...auth.args].join(' ');
    const { result, stdout, stderr } = await runToEnd(
      sandbox,
      {
        argv: [auth.command, ...auth.args],
        cwd: auth.cwd ?? launchFolder() ?? '/',
        env: setVariables(env),
        policy: { type: 'danger-full-access' },
      },
      { timeoutMs: auth.timeout_ms, signal, maxBytes: 64 * 1024 },
    );
    switch (result.type) {
      case 'exited': {
        const token = stdout.toString('utf8').trim();
        if (result.exit_code === 0 && token !== '') return token;
        const why = result.exit_code === 0 ? 'printed nothing' : `exited with code ${result.exit_code}`;
        throw new Error(`The auth command \`${name}\` ${why}: ${stderr.toString('utf8').trim().slice(0, 500)}`);
      }
      case 'timed_out':
        throw new Error(`The auth command \`${name}\` did not end within ${auth.timeout_ms} ms.`);
      case 'aborted':
        throw new Error(`The auth command \`${name}\` was interrupted.`);
      case 'not_started':
        throw new Error(`The auth command \`${name}\` could not be started: ${result.message}`);
    }
  };
}
