/** An explanation as people read it: TOML with the origin of each value as a comment. */
import type { ExplainedValue, Explanation } from './explain-config.js';
import { isTable } from './tables.js';

/** One line per key, in the order of the explanation. */
export function formatExplanation({ values }: Explanation): string {
  return values.map(line).join('');
}

function line(one: ExplainedValue): string {
  const place = one.source === null ? '' : ` ${one.source}${one.line === null ? '' : `:${one.line}`}`;
  if (one.value === null) return `# ${one.key} is not set${one.note === null ? '' : `: ${one.note}`}\n`;
  return `${one.key} = ${toml(one.value)}  # ${one.layer}${place}\n`;
}

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const pairs = Object.entries(value)
    .filter(([, one]) => one !== null)
    .map(([key, one]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${toml(one)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
