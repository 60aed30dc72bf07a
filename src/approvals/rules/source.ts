/** A `.rules` file as text: its calls and literals. A subset of Starlark is read; nothing in it is ever executed. */

/** Where something stands; both count from 1. */
export type Place = { readonly line: number; readonly col: number };

export type Value =
  | { readonly type: 'string'; readonly value: string; readonly at: Place }
  | { readonly type: 'list'; readonly items: readonly Value[]; readonly at: Place };

export type Argument = { readonly name: string | null; readonly value: Value; readonly at: Place };

/** One statement `name(argument, ...)`. */
export type Call = { readonly name: string; readonly args: readonly Argument[]; readonly at: Place };

/** What is wrong with a file, and where. */
export class RulesError extends Error {
  readonly at: Place;
  constructor(at: Place, message: string) {
    super(message);
    this.name = 'RulesError';
    this.at = at;
  }
}

export type Token = {
  readonly type: 'name' | 'string' | 'symbol' | 'newline' | 'end';
  /** A string's value, else the text as written. */
  readonly text: string;
  readonly at: Place;
};

const BLANK = /(?:[ \t\r\f]|\\\r?\n|#[^\n]*)+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const STRING = /(r?)("""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?'''|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')/y;

/** Splits the text; line ends within brackets are dropped. Throws RulesError. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  const place = createPlaces(source);
  let [at, depth] = [source.startsWith('\ufeff') ? 1 : 0, 0];
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at += found[0].length;
    return found;
  };
  while (at < source.length) {
    if (take(BLANK) !== null) continue;
    const start = place(at);
    const string = take(STRING);
    const name = string === null ? take(NAME) : null;
    if (string !== null) {
      tokens.push({ type: 'string', text: stringValue(string[2] ?? '', string[1] === 'r', start), at: start });
    } else if (name !== null) {
      tokens.push({ type: 'name', text: name[0], at: start });
    } else {
      const char = source.charAt(at++);
      if (char === '\n' || char === ';') {
        if (depth === 0) tokens.push({ type: 'newline', text: 'end of line', at: start });
        else if (char === ';') throw new RulesError(start, "unexpected ';' within brackets");
        continue;
      }
      if (!'()[],=+'.includes(char)) throw new RulesError(start, unexpectedCharacter(char));
      depth += char === '(' || char === '[' ? 1 : char === ')' || char === ']' ? -1 : 0;
      tokens.push({ type: 'symbol', text: char, at: start });
    }
  }
  tokens.push({ type: 'end', text: 'end of file', at: place(at) });
  return tokens;
}

function unexpectedCharacter(char: string): string {
  if (char === '"' || char === "'") return 'this string has no end';
  return `unexpected '${char}': only calls with strings and lists are read`;
}

/** Offsets must come in rising order. */
function createPlaces(source: string): (offset: number) => Place {
  let [line, lineStart, seen] = [1, 0, 0];
  return offset => {
    for (let at = source.indexOf('\n', seen); at >= 0 && at < offset; at = source.indexOf('\n', at + 1)) {
      line++;
      lineStart = at + 1;
    }
    seen = Math.max(seen, lineStart);
    return { line, col: offset - lineStart + 1 };
  };
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3}|[^])/g;

function stringValue(quoted: string, raw: boolean, at: Place): string {
  const quotes = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1;
  const inner = quoted.slice(quotes, -quotes).replaceAll('\r\n', '\n');
  if (raw) return inner;
  return inner.replace(ESCAPE, (whole, code: string) => {
    const named = NAMED_ESCAPES[code];
    if (named !== undefined) return named;
    const point = /^[0-7]/.test(code) ? Number.parseInt(code, 8) : Number.parseInt(code.slice(1), 16);
    if (Number.isNaN(point) || point > 0x10ffff) {
      throw new RulesError(at, `unknown escape '${whole}' in this string; write '\\\\' for '\\'`);
    }
    return String.fromCodePoint(point);
  });
}
