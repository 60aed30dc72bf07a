/** What a command seems to do, for display only: reading a file, listing, searching, or something else. */
import { basename, isAbsolute, join } from 'node:path';
import type { ParsedCommand } from '../protocol/index.js';
import { joinWords } from './shell/join-words.js';
import { readPlainScript } from './shell/plain-script.js';
import { shellScript } from './shell/read-command.js';

/**
 * The parts of a command line as a person would name them. When one part is not recognised, or the script is more than
 * plain commands, the whole is one `unknown`; so is it never empty. Never throws, and decides nothing.
 */
export function parseCommand(argv: readonly string[]): ParsedCommand[] {
  const script = shellScript(argv, argv[0]);
  if (script === null) return [describe(argv, null) ?? unknown(joinWords(argv))];
  const plain = readPlainScript(script);
  if (plain === null) return [unknown(script)];
  const commands = plain.commands.map(words => words.map(word => word.text));
  const parsed: ParsedCommand[] = [];
  let folder: string | null = null;
  for (const [i, words] of commands.entries()) {
    if (words[0] === 'cd' && words.length === 2 && i < commands.length - 1) {
      folder = within(folder, words[1] ?? '');
      continue;
    }
    // What only shapes the output of the command before it is not worth a line.
    if (i > 0 && isFilter(words)) continue;
    const next = describe(words, folder);
    if (next === null) return [unknown(script)];
    if (!parsed.some(known => JSON.stringify(known) === JSON.stringify(next))) parsed.push(next);
  }
  return parsed.length === 0 ? [unknown(script)] : parsed;
}

function unknown(cmd: string): ParsedCommand {
  return { type: 'unknown', cmd };
}

function within(folder: string | null, path: string): string {
  return folder === null || isAbsolute(path) ? path : join(folder, path);
}

function isFilter(words: readonly string[]): boolean {
  const [program = '', ...args] = words;
  if (program === 'wc' || program === 'true' || program === 'sort' || program === 'uniq') return args.every(isOption);
  if (program === 'head' || program === 'tail') return args.every(word => isOption(word) || /^\+?\d+$/.test(word));
  return program === 'sed' && args[0] === '-n' && args.length === 2;
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

function describe(words: readonly string[], folder: string | null): ParsedCommand | null {
  const [program, ...args] = words;
  if (program === undefined) return null;
  const name = basename(program);
  const known = name === 'git' ? describeGit(args) : describeProgram(name, args);
  if (known === null) return null;
  const cmd = joinWords(words);
  switch (known.type) {
    case 'read':
      return { type: 'read', cmd, name: basename(known.path), path: within(folder, known.path) };
    case 'list_files':
      return { type: 'list_files', cmd, path: known.path };
    case 'search':
      return { type: 'search', cmd, query: known.query, path: known.path };
  }
}

type Known =
  | { type: 'read'; path: string }
  | { type: 'list_files'; path: string | null }
  | { type: 'search'; query: string | null; path: string | null };

function describeGit(args: readonly string[]): Known | null {
  const [command, ...rest] = args;
  if (command === 'grep') return search(rest, GREP_VALUES);
  if (command === 'ls-files') return { type: 'list_files', path: operands(rest, [])[0] ?? null };
  return null;
}

/** Options that take the next word as their value. */
const GREP_VALUES = ['-e', '-f', '-A', '-B', '-C', '-m', '--max-count', '--context', '--include', '--exclude'];
const RG_VALUES = [
  ...GREP_VALUES,
  '-g',
  '-t',
  '-T',
  '-j',
  '-M',
  '-d',
  '-r',
  '--glob',
  '--iglob',
  '--type',
  '--max-depth',
];
const LISTERS: Readonly<Record<string, readonly string[]>> = {
  ls: ['-I', '-w', '-T', '--block-size'],
  eza: ['-I', '-L', '-s', '--sort', '--level'],
  exa: ['-I', '-L', '-s', '--sort', '--level'],
  tree: ['-L', '-P', '-I', '--filelimit'],
  du: ['-d', '-B', '--max-depth', '--exclude'],
};

function describeProgram(name: string, args: readonly string[]): Known | null {
  const listerValues = Object.hasOwn(LISTERS, name) ? LISTERS[name] : undefined;
  if (listerValues !== undefined) return { type: 'list_files', path: operands(args, listerValues)[0] ?? null };
  switch (name) {
    case 'cat':
    case 'bat':
    case 'batcat':
    case 'less':
    case 'more':
    case 'nl':
      return read(args, name === 'nl' ? ['-s', '-w', '-v', '-i'] : []);
    case 'head':
    case 'tail':
      return args.includes('-f') || args.includes('-F') ? null : read(args, ['-n', '-c', '--lines', '--bytes']);
    case 'sed':
      return args[0] === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(args[1] ?? '') ? read(args.slice(2), []) : null;
    case 'rg':
    case 'ag':
    case 'ack':
      if (args.includes('--files')) return { type: 'list_files', path: operands(args, RG_VALUES)[0] ?? null };
      return search(args, RG_VALUES);
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return search(args, GREP_VALUES);
    case 'fd':
    case 'fdfind':
      return describeFd(args);
    case 'find':
      return describeFind(args);
    default:
      return null;
  }
}

/** Reading one file; several files have no single name to show. */
function read(args: readonly string[], values: readonly string[]): Known | null {
  const [path, ...more] = operands(args, values);
  return path === undefined || more.length > 0 ? null : { type: 'read', path };
}

function search(args: readonly string[], values: readonly string[]): Known {
  const pattern = args.findIndex(word => word === '-e' || word === '-f' || word === '--regexp');
  const [first = null, second = null] = operands(args, values);
  if (pattern >= 0) return { type: 'search', query: args[pattern + 1] ?? null, path: first };
  return { type: 'search', query: first, path: second };
}

function describeFd(args: readonly string[]): Known {
  const [query = null, path = null] = operands(args, ['-e', '-t', '-d', '-E', '--extension', '--type', '--exclude']);
  return query === null ? { type: 'list_files', path } : { type: 'search', query, path };
}

function describeFind(args: readonly string[]): Known | null {
  if (args.some(word => /^-(?:exec|ok|delete|fprint|fls)/.test(word))) return null;
  const path = args[0] === undefined || /^[-(!]/.test(args[0]) ? null : args[0];
  const name = args.findIndex(word => /^-i?(?:name|path|regex)$/.test(word));
  return name < 0 ? { type: 'list_files', path } : { type: 'search', query: args[name + 1] ?? null, path };
}

/** The words that are neither options nor values of options. */
function operands(args: readonly string[], values: readonly string[]): string[] {
  const found: string[] = [];
  let onlyOperands = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? '';
    if (onlyOperands || !isOption(word)) found.push(word);
    else if (word === '--') onlyOperands = true;
    else if (values.includes(word)) i++;
  }
  return found;
}
