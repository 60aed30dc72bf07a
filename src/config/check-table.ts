/** Compares a table with the known keys: what is of the right type is kept, everything else becomes an issue. */
import type * as z from 'zod';
import { isSecretName, showValue } from './errors.js';
import type { Absolute, KeyNode, Keys, MapKey, TableKey, ValueKey } from './keys.js';
import { KNOWN_KEYS } from './known-keys.js';
import { nearestKey } from './nearest-key.js';
import { dotted, isTable, makeTable, type Table } from './tables.js';

export type Path = readonly (string | number)[];
export type Issue = {
  /** `unknown`: no such key. `idle`: a key of the reference that does nothing here. `invalid`: a value that can't be. */
  readonly kind: 'unknown' | 'idle' | 'invalid';
  readonly path: Path;
  /** Without the place. */
  readonly message: string;
};
export type Checked = { readonly values: Table; readonly issues: readonly Issue[] };

export type CheckOptions = {
  /** The zod type of a key, made once. */
  readonly typeOf: (key: ValueKey) => z.ZodType;
  readonly absolute: Absolute;
};

export function checkTable(table: Table, keys: Keys, options: CheckOptions): Checked {
  const check = new Check(keys, options);
  return { values: check.table(table, keys, [], ''), issues: check.issues };
}

class Check {
  readonly issues: Issue[] = [];
  readonly #root: Keys;
  readonly #options: CheckOptions;

  constructor(root: Keys, options: CheckOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** `pattern`: the path with `*` for chosen names, and a dot at its end unless empty. */
  table(table: Table, keys: Keys, path: Path, pattern: string): Table {
    const kept: [string, unknown][] = [];
    for (const [key, raw] of Object.entries(table)) {
      const node = Object.hasOwn(keys, key) ? keys[key] : undefined;
      const here = [...path, key];
      if (node === undefined) this.#stranger(raw, here, keys, pattern);
      else this.#keep(kept, key, this.#node(raw, node, here, pattern + key));
    }
    return makeTable(kept);
  }

  #node(raw: unknown, node: KeyNode, path: Path, pattern: string): unknown {
    switch (node.kind) {
      case 'value':
        return this.#value(raw, node, path);
      case 'table':
      case 'map':
        if (isTable(raw)) return this.#below(raw, node, path, pattern === '' ? '' : `${pattern}.`);
        this.#invalid(path, `expected a table, found ${describe(raw, path)}`);
        return undefined;
    }
  }

  #below(raw: Table, node: TableKey | MapKey, path: Path, pattern: string): Table {
    if (node.kind === 'table') return this.table(raw, node.keys, path, pattern);
    const kept: [string, unknown][] = [];
    for (const [name, one] of Object.entries(raw)) {
      // A profile holds the same keys as the file around it.
      const inner = pattern === 'profiles.' ? '' : `${pattern}*`;
      const checked = this.#node(one, node.each, [...path, name], inner);
      this.#keep(kept, node.resolveName?.(name, this.#options.absolute) ?? name, checked);
    }
    return makeTable(kept);
  }

  #value(raw: unknown, node: ValueKey, path: Path): unknown {
    const result = node.plain?.(raw) ? null : this.#options.typeOf(node).safeParse(raw, { jitless: true });
    if (result?.success === false) {
      const before = this.issues.length;
      for (const issue of result.error.issues) this.#fromZod(issue, raw, path);
      if (this.issues.slice(before).some(issue => issue.kind === 'invalid')) return undefined;
    }
    return node.resolve === undefined ? raw : node.resolve(raw, this.#options.absolute);
  }

  #keep(kept: [string, unknown][], key: string, checked: unknown): void {
    if (checked !== undefined) kept.push([key, checked]);
  }

  #stranger(raw: unknown, path: Path, siblings: Keys, pattern: string): void {
    const key = String(path.at(-1));
    if (KNOWN_KEYS.has(pattern + key)) {
      if (isTable(raw) && hasKnownBelow(pattern + key)) this.table(raw, {}, path, `${pattern}${key}.`);
      else this.#idle(path);
      return;
    }
    const near = nearestKey(key, Object.keys(siblings));
    const parent = path.slice(0, -1);
    const meant = near === null ? this.#elsewhere(key) : dotted([...parent, near]);
    const hint = meant === null ? '' : `; did you mean \`${meant}\`?`;
    this.issues.push({ kind: 'unknown', path, message: `unknown configuration field \`${dotted(path)}\`${hint}` });
  }

  /** The full name of a key that exists under this name in one of the tables. */
  #elsewhere(key: string): string | null {
    for (const [name, node] of Object.entries(this.#root)) {
      if (node.kind === 'table' && Object.hasOwn(node.keys, key)) return `${name}.${key}`;
    }
    return null;
  }

  #idle(path: Path): void {
    this.issues.push({ kind: 'idle', path, message: `\`${dotted(path)}\` is accepted but has no effect here` });
  }

  #invalid(path: Path, message: string): void {
    this.issues.push({ kind: 'invalid', path, message: `${message} in \`${dotted(path)}\`` });
  }

  #fromZod(issue: z.core.$ZodIssue, raw: unknown, base: Path): void {
    const path = [...base, ...issue.path.map(key => (typeof key === 'symbol' ? String(key) : key))];
    const found = describe(at(raw, issue.path), path);
    switch (issue.code) {
      case 'unrecognized_keys':
        for (const key of issue.keys) {
          const message = `unknown configuration field \`${dotted([...path, key])}\``;
          this.issues.push({ kind: 'unknown', path: [...path, key], message });
        }
        return;
      case 'invalid_union':
        this.#fromUnion(issue, raw, base, path, found);
        return;
      case 'invalid_value':
        this.#wrongValue(path, found, oneOf(issue.values));
        return;
      case 'invalid_type':
        this.#invalid(
          path,
          found === 'nothing' ? 'a value is missing' : `expected ${article(issue.expected)}, found ${found}`,
        );
        return;
      case 'too_small':
        this.#invalid(path, issue.origin === 'string' ? 'the text is empty' : `${found} is less than ${issue.minimum}`);
        return;
      case 'too_big':
        this.#invalid(path, `${found} is more than ${issue.maximum}`);
        return;
      case 'invalid_key':
      case 'invalid_element':
      case 'invalid_format':
      case 'not_multiple_of':
      case 'custom':
        this.#invalid(path, `${issue.message} (found ${found})`);
        return;
    }
  }

  /** Speaks about the form that was meant: the one whose outer type fits. */
  #fromUnion(issue: z.core.$ZodIssueInvalidUnion, raw: unknown, base: Path, path: Path, found: string): void {
    const meant = issue.errors.find(branch =>
      branch.every(one => one.path.length > 0 || one.code === 'unrecognized_keys'),
    );
    if (meant !== undefined) {
      for (const one of meant) this.#fromZod({ ...one, path: [...issue.path, ...one.path] }, raw, base);
      return;
    }
    const outer = issue.errors.flat();
    const values = outer.flatMap(one => (one.code === 'invalid_value' ? one.values : []));
    const types = outer.flatMap(one => (one.code === 'invalid_type' ? [article(one.expected)] : []));
    const expected = [...(values.length > 0 ? [oneOf(values)] : []), ...new Set(types)].join(', or ');
    this.#wrongValue(path, found, expected);
  }

  #wrongValue(path: Path, found: string, expected: string): void {
    const isText = found.startsWith('`');
    this.#invalid(
      path,
      isText ? `unknown value ${found}, expected ${expected}` : `expected ${expected}, found ${found}`,
    );
  }
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}

function describe(value: unknown, path: Path): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return value === null ? 'null' : 'a table';
  const shown = path.some(key => isSecretName(String(key))) ? '' : ` \`${showValue(value)}\``;
  if (typeof value === 'string') return shown === '' ? 'a text' : shown.trim();
  return `the ${typeof value}${shown}`;
}

function oneOf(values: readonly unknown[]): string {
  const quoted = values.map(value => `\`${String(value)}\``);
  return quoted.length === 1 ? `${quoted[0]}` : `one of ${quoted.join(', ')}`;
}

function article(expected: string): string {
  switch (expected) {
    case 'string':
      return 'a text';
    case 'array':
      return 'a list';
    case 'record':
    case 'object':
      return 'a table';
    case 'int':
      return 'a whole number';
    case 'number':
      return 'a number';
    case 'boolean':
      return '`true` or `false`';
    default:
      return expected;
  }
}

function hasKnownBelow(pattern: string): boolean {
  return [...KNOWN_KEYS].some(key => key.startsWith(`${pattern}.`));
}
