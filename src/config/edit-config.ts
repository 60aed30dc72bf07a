/** Several changes of one config file as one: all of them are made, or none. */
import { parseToml } from './config-cache.js';
import { targetOf, textOf, writeTarget } from './config-target.js';
import { editToml } from './edit-toml.js';
import { ConfigError } from './errors.js';
import { removeFromToml } from './remove-from-toml.js';
import { issuesOf, type SetResult, tomlValue } from './set-config-value.js';
import { mergeTables, tableAt, valueAt } from './tables.js';
import { TextFile } from './text-file.js';
import { verifyEdit, withoutKey } from './verify-edit.js';

export type ConfigEdit =
  | { readonly type: 'set'; readonly path: readonly string[]; readonly value: unknown }
  /** With everything below it; nothing happens where there is nothing. */
  | { readonly type: 'remove'; readonly path: readonly string[] };

/** Makes the changes in their order; comments, order and layout of the rest stay. Throws ConfigError. */
export function editConfig(file: string, edits: readonly ConfigEdit[]): SetResult {
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
      text = editToml(before, edit.path, tomlValue(edit.value));
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
