/** From a syntax tree to plain data: the commands of a script, and whether it is made of nothing else. */
import type { Node } from 'web-tree-sitter';
import { unescapeDoubleQuoted } from './plain-script.js';

/** A command found anywhere in a script. */
export type FoundCommand = {
  /** Null where a word is only known when the command runs (a variable, a substitution). */
  readonly words: readonly (string | null)[];
  /** What a here-document or here-string feeds it. */
  readonly input: string | null;
};

export type TreeReading = {
  /** The words of each command when the script is plain, else null. */
  readonly plain: readonly (readonly string[])[] | null;
  /** Every command in pipes, loops, functions, substitutions. */
  readonly commands: readonly FoundCommand[];
  /** False where the grammar stumbled: then `commands` may lack some. */
  readonly complete: boolean;
};

export function readTree(root: Node): TreeReading {
  const complete = !root.hasError;
  const plain: string[][] = [];
  return {
    plain: complete && collectPlain(root, plain) ? plain : null,
    commands: root.descendantsOfType('command').map(foundCommand),
    complete,
  };
}

const SEPARATORS = new Set(['&&', '||', ';', '|', '\n']);

/** Puts the commands of a plain script into `into`; false when there is anything else in it. */
function collectPlain(root: Node, into: string[][]): boolean {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === 'command') {
      const words = plainWords(node);
      if (words === null) return false;
      into.push(words);
    } else if (node.type === 'program' || node.type === 'list' || node.type === 'pipeline') {
      for (const child of node.children.toReversed()) open.push(child);
    } else if (node.isNamed || !SEPARATORS.has(node.type)) {
      return false;
    }
  }
  return into.length > 0;
}

const PLAIN_WORDS = new Set(['word', 'number', 'string', 'raw_string', 'concatenation']);

/** The words of a command without redirections, assignments or expansions, else null. */
function plainWords(command: Node): string[] | null {
  const words: string[] = [];
  for (const child of command.children) {
    const node = child.type === 'command_name' ? child.firstChild : child;
    if (node === null || !PLAIN_WORDS.has(node.type)) return null;
    if (node.type === 'concatenation' && !node.children.every(part => PLAIN_WORDS.has(part.type))) return null;
    const word = literal(node);
    if (word === null) return null;
    words.push(word);
  }
  return words;
}

function foundCommand(command: Node): FoundCommand {
  const words: (string | null)[] = [];
  let input: string | null = null;
  for (const child of command.children) {
    if (child.type === 'command_name') words.push(child.firstChild === null ? null : literal(child.firstChild));
    else if (child.type === 'herestring_redirect') input = child.lastChild === null ? null : literal(child.lastChild);
    else if (child.isNamed && child.type !== 'variable_assignment' && !child.type.endsWith('_redirect'))
      words.push(literal(child));
  }
  return { words, input: input ?? heredocBody(command) };
}

function heredocBody(command: Node): string | null {
  const parent = command.parent;
  if (parent?.type !== 'redirected_statement') return null;
  const redirect = parent.children.find(node => node.type === 'heredoc_redirect');
  const body = redirect === undefined ? undefined : redirect.children.find(node => node.type === 'heredoc_body');
  return body?.text ?? null;
}

/** The text a word stands for, or null when it depends on an expansion. */
function literal(node: Node): string | null {
  switch (node.type) {
    case 'word':
      return node.text.replace(/\\([^])/g, (_, char: string) => (char === '\n' ? '' : char));
    case 'raw_string':
      return node.text.slice(1, -1);
    case 'ansi_c_string':
      return decodeAnsiC(node.text.slice(2, -1));
    case 'string':
      return node.children.every(child => !child.isNamed || child.type === 'string_content')
        ? unescapeDoubleQuoted(node.text.slice(1, -1))
        : null;
    case 'translated_string':
      return node.lastChild === null ? null : literal(node.lastChild);
    case 'concatenation': {
      const parts = node.children.map(literal);
      return parts.includes(null) ? null : parts.join('');
    }
    default:
      // Numbers, test operators, pattern pieces and punctuation are what they look like; other nodes expand.
      return node.childCount === 0 ? node.text : null;
  }
}

const ANSI_C_NAMED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ANSI_C_ESCAPE = /\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c[^]|[^])/g;

function decodeAnsiC(raw: string): string {
  return raw.replace(ANSI_C_ESCAPE, (_, code: string) => {
    if (/^[xuU]./.test(code)) return codePoint(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return codePoint(Number.parseInt(code, 8) & 0xff);
    if (/^c./s.test(code)) return codePoint(code.charCodeAt(1) & 0x1f);
    return ANSI_C_NAMED[code] ?? code;
  });
}

function codePoint(value: number): string {
  return value <= 0x10ffff ? String.fromCodePoint(value) : '';
}
