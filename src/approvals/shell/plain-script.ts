/**
 * Reads a shell script that is nothing but plain commands: words, quoted strings without expansion, joined by `&&`,
 * `||`, `;`, `|` or line ends. Everything else is refused, so that what is accepted means the same to bash, zsh and sh.
 */

/** One word as the command will get it. `glob`: unquoted characters may turn it into names of existing files. */
export type Word = { readonly text: string; readonly glob: boolean };

export type PlainScript = {
  readonly commands: readonly (readonly Word[])[];
  /**
   * True when the script is so simple that the shell grammar can't read it differently (a property test compares the
   * two); otherwise its second opinion is needed before anyone relies on `commands`.
   */
  readonly easy: boolean;
};

/** UTF-16 units. What is longer is no plain script and is not given to the grammar. */
export const MAX_SCRIPT_LENGTH = 65_536;

/** Words that begin something other than a command, in bash, zsh or the grammar. */
const RESERVED = new Set(
  (
    'if then else elif fi for foreach while until do done case esac select in function time coproc end repeat ' +
    'nocorrect noglob ! { } [ [[ ]] - declare typeset export readonly local unset unsetenv'
  ).split(' '),
);

/** The commands of `script`, or null when it is anything but plain. Linear time, never throws. */
export function readPlainScript(script: string): PlainScript | null {
  if (script.length > MAX_SCRIPT_LENGTH) return null;
  const commands: Word[][] = [];
  let current: Word[] = [];
  let easy = true;
  // After `&&`, `||` and `|` a command must follow, perhaps on a later line.
  let expecting = false;
  let at = 0;
  const finish = (): boolean => {
    if (current.length === 0) return false;
    commands.push(current);
    current = [];
    return true;
  };
  while (at < script.length) {
    const separator = separatorAt(script, at);
    if (separator === null) {
      const word = readWord(script, at);
      if (word === null) return null;
      if (current.length === 0 && !mayBeProgram(word)) return null;
      easy &&= current.length === 0 ? word.easy && EASY_PROGRAM.test(word.text) : word.easy;
      current.push({ text: word.text, glob: word.glob });
      expecting = false;
      at = word.end;
      continue;
    }
    at += separator.length;
    if (separator === ' ' || separator === '\t') continue;
    if (separator === '\n') {
      finish();
      easy = false;
      continue;
    }
    if (!finish()) return null;
    expecting = separator !== ';';
  }
  finish();
  return expecting || commands.length === 0 ? null : { commands, easy };
}

type ScannedWord = Word & { readonly end: number; readonly easy: boolean; readonly bare: boolean };

const EASY_PROGRAM = /^[A-Za-z_./][A-Za-z0-9_./+-]*$/;

const ORDINARY = /[A-Za-z0-9_./=:,@%+-]+/y;
/** Unquoted characters that are ordinary in some places only; the grammar has to agree. */
const SPECIAL = /[*?[\]~^#!{}]/y;
const SINGLE_QUOTED = /'([^']*)'/y;
const DOUBLE_QUOTED = /"((?:[^"\\$`]|\\[^])*)"/y;
/** A line continuation and characters outside ASCII, which some shells take for blanks, are not accepted. */
const ESCAPED = /\\([ -~\t])/y;
const PRINTABLE = /^[ -~]*$/;

function separatorAt(script: string, at: number): string | null {
  const two = script.slice(at, at + 2);
  if (two === '&&' || two === '||') return two;
  const one = script.charAt(at);
  return one === ' ' || one === '\t' || one === '\n' || one === ';' || (one === '|' && two !== '|&') ? one : null;
}

function readWord(script: string, start: number): ScannedWord | null {
  let at = start;
  let text = '';
  let pieces = 0;
  let [glob, easy, bare, braces] = [false, true, true, false];
  while (at < script.length && separatorAt(script, at) === null) {
    pieces++;
    const ordinary = match(ORDINARY, script, at);
    if (ordinary !== null) {
      text += ordinary[0];
      at += ordinary[0].length;
      continue;
    }
    const special = match(SPECIAL, script, at);
    if (special !== null) {
      if (special[0] === '#' && at === start) return null;
      braces ||= special[0] === '{' || special[0] === '}';
      glob ||= special[0] !== '~' && special[0] !== '!';
      easy = false;
      text += special[0];
      at += 1;
      continue;
    }
    const quoted = readQuoted(script, at);
    if (quoted === null) return null;
    easy &&= quoted.easy;
    bare = false;
    text += quoted.text;
    at = quoted.end;
  }
  if (braces && (/,|\.\./.test(text) || text === '{' || text === '}')) return null;
  // `==` and `=~` are tokens of the grammar.
  return { text, glob, bare, end: at, easy: easy && pieces === 1 && !(bare && text.startsWith('=')) };
}

function readQuoted(script: string, at: number): { text: string; end: number; easy: boolean } | null {
  const single = match(SINGLE_QUOTED, script, at);
  if (single !== null) {
    const text = single[1] ?? '';
    return { text, end: at + single[0].length, easy: PRINTABLE.test(text) };
  }
  const double = match(DOUBLE_QUOTED, script, at);
  if (double !== null) {
    const raw = double[1] ?? '';
    return {
      text: unescapeDoubleQuoted(raw),
      end: at + double[0].length,
      easy: PRINTABLE.test(raw) && !raw.includes('\\'),
    };
  }
  const escaped = match(ESCAPED, script, at);
  return escaped === null ? null : { text: escaped[1] ?? '', end: at + 2, easy: false };
}

/** What a shell makes of the text between double quotes when it holds no expansion. */
export function unescapeDoubleQuoted(raw: string): string {
  return raw.replace(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
}

function mayBeProgram(word: ScannedWord): boolean {
  return !word.glob && !word.text.includes('=') && !(word.bare && RESERVED.has(word.text));
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
