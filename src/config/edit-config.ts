/** Several changes of one config file as one: all of them are made, or none. */
import { stringify } from 'smol-toml';
import type { Issue } from './check-table.js';
import { ConfigCache, parseToml } from './config-cache.js';
import { targetOf, textOf, writeTarget } from './config-target.js';
import { editToml } from './edit-toml.js';
import { ConfigError } from './errors.js';
import { absolutePath } from './home.js';
import { removeFromToml } from './remove-from-toml.js';
import { ALL_KEYS } from './schema.js';
import { dotted, isTable, mergeTables, tableAt, valueAt } from './tables.js';
import { TextFile } from './text-file.js';
import { verifyEdit, withoutKey } from './verify-edit.js';

export type ConfigEdit =
  | {
      readonly type: 'set';
      readonly path: readonly string[];
      readonly value: unknown;
      /** The value in TOML, where it has to be written in one way of several. */
      readonly notation?: string;
    }
  /** With everything below it; nothing happens where there is nothing. */
  | { readonly type: 'remove'; readonly path: readonly string[] };

export type EditResult = { readonly file: string; readonly warnings: readonly string[] };

/** Makes the changes in their order; comments, order and layout of the rest stay. Throws ConfigError. */
export function editConfig(file: string, edits: readonly ConfigEdit[]): EditResult {
  const target = targetOf(file);
  const warnings: string[] = [];
  let text = textOf(target);
  for (const edit of edits) {
    const before = new TextFile(file, text);
    const old = parseToml(before);
    if (edit.type === 'remove') {
      text = removeFromToml(before, edit.path);
      verifyEdit({ file, after: text, expected: withoutKey(old, edit.path), names: edit.path, verb: 'removed' });
    } else {
      warnings.push(...checked(edit.path, edit.value));
      text = editToml(before, edit.path, edit.notation ?? tomlValue(edit.value));
      const expected = mergeTables(withoutKey(old, edit.path), tableAt(edit.path, edit.value));
      verifyEdit({ file, after: text, expected, names: edit.path, verb: 'set' });
    }
  }
  if (text !== textOf(target)) writeTarget(target, text);
  return { file: target.path, warnings };
}

/** Whether the file itself has something at this path. Throws ConfigError for a file that is no TOML. */
export function hasConfigKey(file: string, path: readonly string[]): boolean {
  return valueAt(parseToml(new TextFile(file, textOf(targetOf(file)))), path) !== undefined;
}

function checked(path: readonly string[], value: unknown): string[] {
  const issues = issuesOf(path, value);
  const faults = issues.filter(issue => issue.kind !== 'idle');
  if (faults.length > 0) {
    throw new ConfigError(`${faults.map(issue => issue.message).join('\n')}; nothing was changed`);
  }
  return issues.map(issue => issue.message);
}

/** What is wrong with a value at this path, and what about it has no effect. */
export function issuesOf(path: readonly string[], value: unknown): readonly Issue[] {
  const cache = new ConfigCache();
  return cache.check(tableAt(path, value), ALL_KEYS, one => absolutePath(one, '/', {})).issues;
}

/** A value in TOML notation, on one line where that is possible. */
export function tomlValue(value: unknown): string {
  if (isTable(value)) {
    const members = Object.entries(value).map(([key, one]) => `${dotted([key])} = ${tomlValue(one)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  const text = stringify({ x: [value] });
  return text.slice(text.indexOf('[') + 1, text.lastIndexOf(']')).trim();
}
