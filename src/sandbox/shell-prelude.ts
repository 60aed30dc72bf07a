/** A shell between the terminal library and the program: the library can neither pass descriptors nor close any. */
import { FIRST_FD } from './child.js';

export type Prelude = {
  /** Files that become 3, 4, ... of the program. */
  readonly open: readonly string[];
  readonly close: readonly number[];
  /** Absolute path of a shell; closing numbers above 9 needs bash or busybox. */
  readonly shell: string;
};

/** `argv` behind the shell that prepares it. No word of `argv` becomes part of the script. */
export function withPrelude(argv: readonly string[], { open, close, shell }: Prelude): string[] {
  if (open.length === 0 && close.length === 0) return [...argv];
  const assign = open.map((_, i) => `f${i}=$${i + 1};`).join(' ');
  const redirect = open.map((_, i) => `${FIRST_FD + i}<"$f${i}"`).join(' ');
  // A shell that does not know large numbers takes the first for a program, fails to find it, and runs nothing.
  const closing = close.map(fd => `exec ${fd}>&-;`).join(' ');
  const script = `${closing} ${assign} shift ${open.length}; exec "$@" ${redirect}`;
  return [shell, '-c', script, 'sh', ...open, ...argv];
}
