/** The commands that are known to only read: the list behind the approval policy `untrusted`. */
import { isLongOption } from './long-option.js';
import type { Word } from './plain-script.js';
import { knownName } from './read-command.js';
import { isSafeGit } from './safe-git.js';

/** These write nothing and start nothing, whatever their arguments. */
const ALWAYS_SAFE = new Set(
  (
    'cat cd cut echo expr false grep head id ls nl paste pwd rev seq stat tail tr true uname wc which whoami ' +
    'numfmt tac'
  ).split(' '),
);

/** Judged by their arguments. */
const CONDITIONAL: Readonly<Record<string, (args: readonly string[], globs: boolean) => boolean>> = {
  base64: isSafeBase64,
  find: isSafeFind,
  git: isSafeGit,
  rg: isSafeRg,
  sed: isSafeSed,
  uniq: isSafeUniq,
};

/** True when the command can't change anything. Anything that is not known to be safe is not. */
export function isSafeCommand(words: readonly Word[]): boolean {
  const [program, ...args] = words;
  if (program === undefined || program.glob) return false;
  const name = knownName(program.text);
  if (name === null) return false;
  if (ALWAYS_SAFE.has(name)) return true;
  const judgeArguments = Object.hasOwn(CONDITIONAL, name) ? CONDITIONAL[name] : undefined;
  if (judgeArguments === undefined || args.some(mayBecomeOption)) return false;
  return judgeArguments(
    args.map(word => word.text),
    args.some(word => word.glob),
  );
}

/** A pattern such as `*` also stands for a file that is named like an option (`-delete`). */
function mayBecomeOption(word: Word): boolean {
  return word.glob && !/^[A-Za-z0-9_./]/.test(word.text);
}

function isSafeBase64(args: readonly string[]): boolean {
  return args.every(word => !isLongOption(word, '--output') && !/^-[^-]*o/.test(word));
}

const FIND_ACTIONS = ['-exec', '-ok', '-delete', '-fls', '-fprint'];

function isSafeFind(args: readonly string[]): boolean {
  return args.every(word => !FIND_ACTIONS.some(action => word.startsWith(action)));
}

/** Programs that rg would start. */
const RG_PROGRAMS = ['--pre', '--hostname-bin', '--search-zip'];

function isSafeRg(args: readonly string[]): boolean {
  return args.every(word => !RG_PROGRAMS.some(option => isLongOption(word, option)) && !hasRgZip(word));
}

/** `-z`, also in a group such as `-nz`, but not in the value of another flag (`-gz*`). */
function hasRgZip(word: string): boolean {
  return /^-(?!-)[^ABCEMTdefgjmrt]*z/.test(word);
}

/** Only `sed -n Np` and `sed -n N,Mp`, of one file or of what is piped in. */
function isSafeSed(args: readonly string[]): boolean {
  const [quiet, script, file, ...more] = args;
  if (quiet !== '-n' || script === undefined || more.length > 0) return false;
  return /^\d+(?:,\d+)?p$/.test(script) && (file === undefined || !file.startsWith('-'));
}

/** A second file name would be written to. */
function isSafeUniq(args: readonly string[], globs: boolean): boolean {
  if (globs) return false;
  const files = args.filter((word, i) => {
    const isValue = /^-[a-zA-Z]*[fsw]$/.test(args[i - 1] ?? '') && /^\d+$/.test(word);
    return !isValue && (word === '-' || !word.startsWith('-'));
  });
  return files.length <= 1;
}
