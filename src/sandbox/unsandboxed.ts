/** What is added to a command besides the sandbox: its mark, and without one the inability to outlive us. */
import type { CommandSpec } from '../protocol/index.js';
import { exitCodeOf } from './child.js';
import type { Enclosed } from './enclosure.js';
import { MARKER_VARIABLE } from './process-tree.js';

export type Prepared = Enclosed & { readonly marker: string; readonly isSandbox: boolean };

/** `program` is the absolute path of the first word; `setpriv` that of the program, or null. */
export function unsandboxed(spec: CommandSpec, program: string, marker: string, setpriv: string | null): Prepared {
  const argv = [program, ...spec.argv.slice(1)];
  return {
    // The death signal is kept across exec, so it stays with the command itself.
    argv: setpriv === null ? argv : [setpriv, '--pdeathsig', 'KILL', '--', ...argv],
    env: markedEnvironment(spec.env, marker),
    inherit: [],
    marker,
    isSandbox: false,
    closeDescriptors: () => {},
    resultOf: async exit => ({ type: 'exited', exit_code: exitCodeOf(exit), signal: exit.signal }),
    release: () => Promise.resolve(),
  };
}

export function markedEnvironment(env: Readonly<Record<string, string>>, marker: string): Record<string, string> {
  return { ...env, [MARKER_VARIABLE]: marker };
}
