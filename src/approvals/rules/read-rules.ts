/** What the calls of a `.rules` file mean. */
import { basename, isAbsolute } from 'node:path';
import { messageOf } from '../../util/index.js';
import { parseCalls } from './parse-calls.js';
import { matchRule, NETWORK_PROTOCOLS, type PrefixRule, RULE_DECISIONS, type Rules, restrictionsOf } from './rules.js';
import { type Argument, type Call, RulesError, type Value } from './source.js';
import { splitWords } from './split-words.js';

export type RulesFile = {
  readonly rules: Rules;
  /** `path:line:col: what is wrong`; `rules` then holds only the restrictions that stand before the fault. */
  readonly problem: string | null;
};

/** `path` is only used in the problem. Never throws. */
export function readRules(source: string, path: string): RulesFile {
  const file: FileContent = { prefixes: [], hostExecutables: new Map(), network: [], examples: [] };
  try {
    parseCalls(source, call => apply(call, file));
    for (const example of file.examples) verify(example, file);
    return { rules: file, problem: null };
  } catch (error) {
    const at = error instanceof RulesError ? error.at : { line: 1, col: 1 };
    return { rules: restrictionsOf(file), problem: `${path}:${at.line}:${at.col}: ${messageOf(error)}` };
  }
}

type Example = { readonly rule: PrefixRule; readonly value: Value; readonly matches: boolean };

type FileContent = {
  readonly prefixes: PrefixRule[];
  readonly hostExecutables: Map<string, readonly string[]>;
  readonly network: Rules['network'][number][];
  readonly examples: Example[];
};

function apply(call: Call, file: FileContent): void {
  switch (call.name) {
    case 'prefix_rule':
      return applyPrefixRule(call, file);
    case 'host_executable':
      return applyHostExecutable(call, file);
    case 'network_rule':
      return applyNetworkRule(call, file);
    default:
      throw new RulesError(call.at, `'${call.name}' is not known; use prefix_rule, host_executable or network_rule`);
  }
}

function applyPrefixRule(call: Call, file: FileContent): void {
  const args = bind(call, ['pattern', 'decision', 'match', 'not_match', 'justification']);
  const pattern = listOf(required(call, args, 'pattern'), 'pattern').map(alternatives);
  if (pattern.length === 0) throw new RulesError(required(call, args, 'pattern').at, 'pattern must not be empty');
  const given = args.get('decision');
  const decision = given === undefined ? 'allow' : choice(given, 'decision', RULE_DECISIONS);
  const rule: PrefixRule = { pattern, decision, justification: justificationOf(args) };
  file.prefixes.push(rule);
  for (const [name, matches] of [
    ['match', true],
    ['not_match', false],
  ] as const) {
    const examples = args.get(name);
    if (examples === undefined) continue;
    for (const value of listOf(examples, name)) file.examples.push({ rule, value, matches });
  }
}

function applyHostExecutable(call: Call, file: FileContent): void {
  const args = bind(call, ['name', 'paths']);
  const name = required(call, args, 'name');
  const program = stringOf(name, 'name');
  if (program === '' || program.includes('/')) {
    throw new RulesError(name.at, `name must be a program name without a path, not '${program}'`);
  }
  const paths = listOf(required(call, args, 'paths'), 'paths').map(value => {
    const path = stringOf(value, 'paths');
    if (!isAbsolute(path)) throw new RulesError(value.at, `'${path}' must be an absolute path`);
    if (basename(path) !== program) throw new RulesError(value.at, `the last part of '${path}' must be '${program}'`);
    return path;
  });
  file.hostExecutables.set(program, [...(file.hostExecutables.get(program) ?? []), ...paths]);
}

function applyNetworkRule(call: Call, file: FileContent): void {
  const args = bind(call, ['host', 'protocol', 'decision', 'justification']);
  const hostValue = required(call, args, 'host');
  const host = stringOf(hostValue, 'host').trim().toLowerCase();
  if (!/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[?[0-9a-f:.]+\]?)$/.test(host)) {
    throw new RulesError(
      hostValue.at,
      `host must be one host name or address without scheme, path or '*', not '${host}'`,
    );
  }
  const protocol = choice(required(call, args, 'protocol'), 'protocol', NETWORK_PROTOCOLS);
  const decision = choice(required(call, args, 'decision'), 'decision', [...RULE_DECISIONS, 'deny'] as const);
  file.network.push({
    host: host.replace(/\.$/, ''),
    protocol,
    decision: decision === 'deny' ? 'forbidden' : decision,
    justification: justificationOf(args),
  });
}

/** Examples are checked when the whole file is known, since `host_executable` may follow. */
function verify(example: Example, file: FileContent): void {
  const { value, rule } = example;
  const words = value.type === 'string' ? splitWords(value.value) : value.items.map(item => stringOf(item, 'example'));
  if (words === null) throw new RulesError(value.at, 'this example has an open quote');
  if (words.length === 0) throw new RulesError(value.at, 'an example must not be empty');
  if ((matchRule(file, rule, words) !== null) === example.matches) return;
  const pattern = rule.pattern.map(word => (word.length === 1 ? word[0] : `(${word.join('|')})`)).join(' ');
  const problem = example.matches ? 'should match but does not' : 'should not match but does';
  throw new RulesError(value.at, `'${words.join(' ')}' ${problem}: the rule is for '${pattern}'`);
}

function bind(call: Call, names: readonly string[]): ReadonlyMap<string, Value> {
  const bound = new Map<string, Value>();
  call.args.forEach((arg: Argument, i) => {
    const name = arg.name ?? names[i];
    if (name === undefined) throw new RulesError(arg.at, `${call.name} takes at most ${names.length} arguments`);
    if (!names.includes(name)) {
      throw new RulesError(arg.at, `${call.name} has no argument '${name}'; it takes ${names.join(', ')}`);
    }
    if (bound.has(name)) throw new RulesError(arg.at, `'${name}' is given twice`);
    bound.set(name, arg.value);
  });
  return bound;
}

function required(call: Call, args: ReadonlyMap<string, Value>, name: string): Value {
  const value = args.get(name);
  if (value === undefined) throw new RulesError(call.at, `${call.name} needs the argument '${name}'`);
  return value;
}

function stringOf(value: Value, name: string): string {
  if (value.type !== 'string') throw new RulesError(value.at, `${name} must be a string here, not a list`);
  return value.value;
}

function listOf(value: Value, name: string): readonly Value[] {
  if (value.type !== 'list') throw new RulesError(value.at, `${name} must be a list, not a string`);
  return value.items;
}

function alternatives(value: Value): string[] {
  if (value.type === 'string') return [value.value];
  if (value.items.length === 0) throw new RulesError(value.at, 'a list of alternatives must not be empty');
  return value.items.map(item => stringOf(item, 'an alternative'));
}

function choice<T extends string>(value: Value, name: string, choices: readonly T[]): T {
  const given = stringOf(value, name);
  const found = choices.find(known => known === given);
  if (found === undefined)
    throw new RulesError(value.at, `${name} must be one of ${choices.join(', ')}, not '${given}'`);
  return found;
}

function justificationOf(args: ReadonlyMap<string, Value>): string | null {
  const value = args.get('justification');
  if (value === undefined) return null;
  const text = stringOf(value, 'justification').trim();
  if (text === '') throw new RulesError(value.at, 'justification must not be empty; leave it out instead');
  return text;
}
