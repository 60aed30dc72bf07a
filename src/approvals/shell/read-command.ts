/** What a command line that is about to be spawned consists of. */
import { basename, dirname } from 'node:path';
import { readPlainScript, type Word } from './plain-script.js';
import type { TreeReading } from './read-tree.js';

/** Gives the grammar's reading of a script; null when it can't be read, or when there is no grammar at hand. */
export type ScriptReader = (script: string) => TreeReading | null;

export type CommandReading = {
  /** False: the whole command line counts as one command, since nobody knows all that its script does. */
  readonly plain: boolean;
  /** Never empty. */
  readonly commands: readonly (readonly Word[])[];
};

/** Programs from these folders are what their name says; anywhere else a file may only be named like one. */
const SYSTEM_FOLDERS = new Set([
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/run/current-system/sw/bin',
]);

/** The name a program is known by: bare names (found through PATH) and files in system folders; else null. */
export function knownName(program: string): string | null {
  if (!program.includes('/')) return program;
  return SYSTEM_FOLDERS.has(dirname(program)) ? basename(program) : null;
}

const SCRIPT_SHELLS = new Set(['bash', 'zsh', 'sh']);

/** The script of `[bash|zsh|sh, -c|-lc, script]`, else null. `userShell`: a path that is trusted as well. */
export function shellScript(argv: readonly string[], userShell?: string): string | null {
  const [shell, flag, script] = argv;
  if (argv.length !== 3 || shell === undefined || script === undefined) return null;
  if (flag !== '-c' && flag !== '-lc') return null;
  const name = shell === userShell ? basename(shell) : knownName(shell);
  return name !== null && SCRIPT_SHELLS.has(name) ? script : null;
}

/** `read` is only called where the answer depends on it. Never throws. */
export function readCommand(argv: readonly string[], read: ScriptReader, userShell?: string): CommandReading {
  const whole = argv.map(text => ({ text, glob: false }));
  const script = shellScript(argv, userShell);
  if (script === null) return { plain: argv.length > 0, commands: [whole] };
  const plain = readPlainScript(script);
  if (plain !== null && (plain.easy || sameWords(plain.commands, read(script)?.plain))) {
    return { plain: true, commands: plain.commands };
  }
  return { plain: false, commands: [whole] };
}

function sameWords(
  mine: readonly (readonly Word[])[],
  grammars: readonly (readonly string[])[] | null | undefined,
): boolean {
  return (
    grammars != null &&
    mine.length === grammars.length &&
    mine.every((words, i) => {
      const others = grammars[i];
      return others?.length === words.length && words.every((word, j) => word.text === others[j]);
    })
  );
}
