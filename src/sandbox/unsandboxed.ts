/** The way to run a command without a sandbox: as it is, but unable to outlive us where the platform helps; and the mark that all commands carry. */
import { MARKER_VARIABLE } from './process-tree.js';

/** `setpriv` is the absolute path of the program, or null. */
export function unsandboxedArgv(argv: readonly string[], setpriv: string | null): string[] {
  // The death signal is kept across exec, so it stays with the command itself.
  return setpriv === null ? [...argv] : [setpriv, '--pdeathsig', 'KILL', '--', ...argv];
}

export function markedEnvironment(env: Readonly<Record<string, string>>, marker: string): Record<string, string> {
  return { ...env, [MARKER_VARIABLE]: marker };
}
