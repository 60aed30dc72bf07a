/** From the tokens of a `.rules` file to its calls. */
import { type Argument, type Call, type Place, RulesError, type Token, tokenize, type Value } from './source.js';

/** Lists within lists; a pattern needs two. */
const MAX_DEPTH = 16;

/** Characters or elements; joining a name with itself again and again would fill the memory. */
const MAX_JOINED = 100_000;

/**
 * The calls of a file in order. Names may be given to strings and lists (`TOOLS = ["a", "b"]`) and used after that.
 * `onCall` gets each call as soon as it is read, so that what stands before a fault is not lost. Throws RulesError.
 */
export function parseCalls(source: string, onCall: (call: Call) => void): void {
  const reader = createReader(tokenize(source));
  const constants = new Map<string, Value>();
  while (!reader.at('end')) {
    if (reader.accept('newline')) continue;
    // A string by itself is the usual way to describe a file.
    if (reader.accept('string')) {
      endOfStatement(reader);
      continue;
    }
    const name = reader.expect('name', 'a call such as prefix_rule(...)');
    if (reader.accept('=')) {
      constants.set(name.text, parseValue(reader, constants, 0));
    } else if (reader.accept('(')) {
      onCall({ name: name.text, args: parseArguments(reader, constants), at: name.at });
    } else {
      throw unexpected(reader.peek(), `'(' after ${name.text}; loops, conditions and functions are not read`);
    }
    endOfStatement(reader);
  }
}

interface Reader {
  peek(ahead?: number): Token;
  /** Whether the next token is this symbol or of this type. */
  at(what: string): boolean;
  /** Steps over the next token if it is this symbol or of this type. */
  accept(what: string): boolean;
  expect(what: string, description: string): Token;
}

function createReader(tokens: readonly Token[]): Reader {
  const end: Token = tokens.at(-1) ?? { type: 'end', text: 'end of file', at: { line: 1, col: 1 } };
  let at = 0;
  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const is = (token: Token, what: string) => (token.type === 'symbol' ? token.text === what : token.type === what);
  return {
    peek,
    at: what => is(peek(), what),
    accept: what => {
      if (!is(peek(), what)) return false;
      at++;
      return true;
    },
    expect: (what, description) => {
      const token = peek();
      if (!is(token, what)) throw unexpected(token, description);
      at++;
      return token;
    },
  };
}

function endOfStatement(reader: Reader): void {
  if (!reader.at('end')) reader.expect('newline', 'the end of the line');
}

function parseArguments(reader: Reader, constants: ReadonlyMap<string, Value>): Argument[] {
  const args: Argument[] = [];
  while (!reader.accept(')')) {
    const token = reader.peek();
    const next = reader.peek(1);
    const named = token.type === 'name' && next.type === 'symbol' && next.text === '=';
    if (named) {
      reader.accept('name');
      reader.accept('=');
    } else if (args.some(arg => arg.name !== null)) {
      throw new RulesError(token.at, 'an argument without a name must stand before those with one');
    }
    args.push({ name: named ? token.text : null, value: parseValue(reader, constants, 0), at: token.at });
    if (!reader.accept(',') && !reader.at(')')) throw unexpected(reader.peek(), "',' or ')'");
  }
  return args;
}

/** A string, a list, a known name, something in brackets, or several of them joined by `+`. */
function parseValue(reader: Reader, constants: ReadonlyMap<string, Value>, depth: number): Value {
  let value = parseOperand(reader, constants, depth);
  for (let sign = reader.peek(); reader.accept('+'); sign = reader.peek()) {
    value = join(value, parseOperand(reader, constants, depth), sign.at);
  }
  return value;
}

function join(left: Value, right: Value, at: Place): Value {
  if (left.type === 'string' && right.type === 'string') {
    if (left.value.length + right.value.length > MAX_JOINED) throw new RulesError(at, 'this string gets too long');
    return { type: 'string', value: left.value + right.value, at: left.at };
  }
  if (left.type === 'list' && right.type === 'list') {
    if (left.items.length + right.items.length > MAX_JOINED) throw new RulesError(at, 'this list gets too long');
    return { type: 'list', items: [...left.items, ...right.items], at: left.at };
  }
  throw new RulesError(at, `a ${left.type} and a ${right.type} can't be joined`);
}

function parseOperand(reader: Reader, constants: ReadonlyMap<string, Value>, depth: number): Value {
  const token = reader.peek();
  if (depth > MAX_DEPTH) throw new RulesError(token.at, 'brackets are nested too deeply');
  if (reader.accept('string')) return { type: 'string', value: token.text, at: token.at };
  if (reader.accept('(')) {
    const value = parseValue(reader, constants, depth + 1);
    reader.expect(')', "')'");
    return value;
  }
  if (reader.accept('[')) {
    const items: Value[] = [];
    while (!reader.accept(']')) {
      items.push(parseValue(reader, constants, depth + 1));
      if (!reader.accept(',') && !reader.at(']')) throw unexpected(reader.peek(), "',' or ']'");
    }
    return { type: 'list', items, at: token.at };
  }
  if (reader.accept('name')) {
    const value = constants.get(token.text);
    if (value !== undefined) return { ...value, at: token.at };
    throw new RulesError(token.at, `'${token.text}' is not known; strings and lists are read, nothing is computed`);
  }
  throw unexpected(token, 'a string or a list');
}

function unexpected(token: Token, expected: string): RulesError {
  const found = token.type === 'string' ? 'a string' : token.type === 'symbol' ? `'${token.text}'` : token.text;
  return new RulesError(token.at, `expected ${expected}, found ${found}`);
}
