/** Every command that a command line is seen to run, however deep it is wrapped. Used to forbid, never to allow. */
import { basename } from 'node:path';
import { readPlainScript } from './plain-script.js';
import type { ScriptReader } from './read-command.js';
import type { FoundCommand } from './read-tree.js';

/** Words of a command; null where a word is known only at run time. */
export type SeenCommand = readonly (string | null)[];

export type EveryCommand = {
  readonly commands: readonly SeenCommand[];
  /** False when part of it could not be read: then there may be more. */
  readonly complete: boolean;
};

/**
 * True when the text may name one of `programs` as a command. False is certain for commands written out literally;
 * quotes, backslashes and coded characters hide nothing. Cheap: it saves loading the grammar.
 */
export function mayRun(argv: readonly string[], programs: readonly string[]): boolean {
  if (programs.length === 0) return false;
  const text = argv.join('\n');
  if (hasCodedCharacters(text)) return true;
  // `env -Srm`: the letters before the program belong to the option.
  if (/-[A-Za-z0-9'"\\]*S['"\\]*\w/.test(text)) return true;
  // A shell joins lines at a continuation, but not within a comment.
  const quotes = /['"\\]/g;
  const versions = [text.replaceAll('\\\n', ''), text].map(version => version.replace(quotes, ''));
  return programs.some(program => versions.some(version => hasWord(version, program.replace(quotes, ''))));
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isNameChar(text.charAt(at - 1)) && !isNameChar(text.charAt(at + word.length))) return true;
    if (word === '') return true;
  }
  return false;
}

/** `$'\\x72m'`: characters that the text does not show. */
export function hasCodedCharacters(text: string): boolean {
  return text.includes("$'") || (text.includes('$') && /\\[0-7xuUc]/.test(text));
}

function isNameChar(char: string): boolean {
  return /[A-Za-z0-9_-]/.test(char);
}

/** Limits that no honest command comes near; beyond them the answer is "there may be more". */
const MAX_DEPTH = 12;
const MAX_COMMANDS = 20_000;
const MAX_WORDS = 5000;

/** Looks through shells, `sudo`, `env`, `xargs`, `find -exec`, `trap`, `eval`, pipes, loops and substitutions. */
export function everyCommand(argv: readonly string[], read: ScriptReader): EveryCommand {
  const commands: SeenCommand[] = [];
  let complete = true;
  const open: { command: FoundCommand; depth: number }[] = [{ command: { words: argv, input: null }, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_DEPTH || commands.length > MAX_COMMANDS) return { commands, complete: false };
    const { command, depth } = next;
    commands.push(command.words);
    if (command.words.length > MAX_WORDS) {
      complete = false;
      continue;
    }
    for (const words of wrappedCommands(command.words)) {
      open.push({ command: { words, input: null }, depth: depth + 1 });
    }
    for (const script of scriptsOf(command)) {
      const found = commandsOfScript(script, read);
      complete &&= found.complete;
      for (const inner of found.commands) open.push({ command: inner, depth: depth + 1 });
    }
  }
  return { commands, complete };
}

function commandsOfScript(script: string, read: ScriptReader): { commands: FoundCommand[]; complete: boolean } {
  const plain = readPlainScript(script);
  const own = (plain?.commands ?? []).map(words => ({ words: words.map(word => word.text), input: null }));
  if (plain?.easy === true) return { commands: own, complete: true };
  // The grammar splits words at a line continuation, which a shell joins; joining may hide commands behind a comment.
  const versions = script.includes('\\\n') ? [script, script.replaceAll('\\\n', '')] : [script];
  const readings = versions.map(read);
  return {
    commands: [...own, ...readings.flatMap(reading => [...(reading?.commands ?? [])])],
    complete: readings.every(reading => reading?.complete === true),
  };
}

const SHELLS = new Set(['bash', 'zsh', 'sh', 'dash', 'ksh', 'mksh', 'ash', 'fish', 'su', 'runuser']);

/** Texts that the command hands to a shell. */
function scriptsOf(command: FoundCommand): string[] {
  const [program, ...rest] = command.words;
  const name = program == null ? '' : basename(program);
  if (name === 'eval') return [rest.filter(word => word !== null).join(' ')];
  if (name === 'trap' || name === 'watch')
    return rest.filter(word => word !== null).filter(word => !word.startsWith('-'));
  if (name === 'env') return rest.flatMap((word, i) => splitStringOption(word, rest[i + 1]));
  if (!SHELLS.has(name)) return [];
  const flag = rest.findIndex(word => word !== null && /^-[A-Za-z]*c[A-Za-z]*$|^--command$/.test(word));
  // Options may stand between `-c` and the script (`bash -c -l 'script'`).
  const scripts = flag < 0 ? [] : rest.slice(flag + 1).filter(word => word !== null);
  return command.input === null ? scripts : [...scripts, command.input];
}

function splitStringOption(word: string | null, next: string | null | undefined): string[] {
  if (word === null) return [];
  if (/^-[A-Za-z]*S$|^--split-string$/.test(word)) return next == null ? [] : [next];
  const joined = /^(?:-[A-Za-z]*S|--split-string=)([^]+)$/.exec(word);
  return joined?.[1] === undefined ? [] : [joined[1]];
}

const WRAPPERS = new Set(
  (
    'sudo doas env command builtin exec nohup setsid time nice ionice timeout stdbuf xargs parallel busybox unbuffer ' +
    'chronic script strace ltrace flock coproc noglob nocorrect'
  ).split(' '),
);

/** Commands that stand as words behind another one. */
function wrappedCommands(words: SeenCommand): SeenCommand[] {
  const [program] = words;
  const name = program == null ? '' : basename(program);
  if (name === 'find' || name === 'fd' || name === 'fdfind') {
    return words.flatMap((word, i) =>
      word !== null && /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(word) ? [words.slice(i + 1)] : [],
    );
  }
  if (!WRAPPERS.has(name)) return [];
  const found: SeenCommand[] = [];
  for (let i = 1; i < words.length; i++) {
    const word = words[i];
    if (word == null || /^-|^[A-Za-z_]\w*=|^[\d.]+[smhd]?$/.test(word)) continue;
    found.push(words.slice(i));
    // Behind an option it may be the option's value, with the command still to come.
    if (words[i - 1]?.startsWith('-') !== true) break;
  }
  return found;
}
