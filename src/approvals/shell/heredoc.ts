import { readPlainScript, type Word } from './plain-script.js';

/**
 * The command of a script that is nothing but that command and a here-document without expansions; else null. Only the
 * usual form counts: the delimiter ends its line, and nothing but blanks follows its second appearance.
 */
export function readHeredocCommand(script: string): readonly Word[] | null {
  const start = script.indexOf('<<');
  if (start < 0) return null;
  const [command, ...more] = readPlainScript(script.slice(0, start))?.commands ?? [];
  const opening = /^<<[ \t]*(['"]?)([A-Za-z_][A-Za-z0-9_]*)\1[ \t]*\n/.exec(script.slice(start));
  if (command === undefined || more.length > 0 || opening === null) return null;
  const [whole, quote, delimiter = ''] = opening;
  const lines = script.slice(start + whole.length).split('\n');
  const end = lines.indexOf(delimiter);
  if (end < 0 || lines.slice(end + 1).some(line => /[^ \t]/.test(line))) return null;
  // Without quotes around the delimiter the shell expands the body.
  const expands = quote === '' && lines.slice(0, end).some(line => /[$`\\]/.test(line));
  return expands ? null : command;
}
