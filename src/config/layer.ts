/** One source of settings, checked, and how its mistakes are told. */
import type { Issue, Path } from './check-table.js';
import { ConfigError } from './errors.js';
import type { RawConfig } from './schema.js';
import { dotted, isTable, makeTable, mergeTables, type Table, valueAt } from './tables.js';
import { atKey, lineOf, type TextFile } from './text-file.js';

export type LayerKind = 'system' | 'user' | 'project' | 'profile' | 'override' | 'argument';

export type Layer = {
  readonly kind: LayerKind;
  /** How messages name it when it is no file. */
  readonly label: string;
  readonly file: TextFile | null;
  /** Where the table begins in the file. */
  readonly prefix: Path;
  readonly values: Table;
};

export type Place = { readonly file: string; readonly line: number | null } | { readonly label: string };

/** A message with the place of a key in this layer. */
export function atLayer(layer: Layer, path: Path, message: string, part: 'key' | 'value'): string {
  if (layer.file === null) return `${message} (from ${layer.label})`;
  return atKey(layer.file, [...layer.prefix, ...path], message, part);
}

export function placeIn(layer: Layer, path: Path): Place {
  return layer.file === null ? { label: layer.label } : lineOf(layer.file, [...layer.prefix, ...path]);
}

/** What can't be used, and what deserves a word, each with its place. */
export function judgeIssues(
  layer: Layer,
  issues: readonly Issue[],
  strict: boolean,
): { readonly errors: readonly string[]; readonly warnings: readonly string[] } {
  const errors: string[] = [];
  const warnings: string[] = [];
  for (const { kind, path, message } of issues) {
    if (kind === 'invalid') errors.push(atLayer(layer, path, message, 'value'));
    else if (kind === 'idle') warnings.push(warningAt(layer, path, message));
    else if (strict || layer.kind === 'override') errors.push(atLayer(layer, path, message, 'key'));
    else if (path[0] === 'features') warnings.push(warningAt(layer, path, message));
  }
  return { errors, warnings };
}

/** Throws ConfigError when there are any. */
export function throwErrors(errors: readonly string[]): void {
  if (errors.length === 0) return;
  const more = errors.length > 10 ? [`and ${errors.length - 10} more`] : [];
  throw new ConfigError([...errors.slice(0, 10), ...more].join('\n'));
}

/** `path:line: message` on one line. */
export function warningAt(layer: Layer, path: Path, message: string): string {
  const place = placeIn(layer, path);
  if ('label' in place) return `${message} (from ${place.label})`;
  return `${place.file}${place.line === null ? '' : `:${place.line}`}: ${message}`;
}

/** Layers from the lowest to the highest, as one. */
export class MergedLayers {
  readonly layers: readonly Layer[];
  readonly values: RawConfig;

  constructor(layers: readonly Layer[]) {
    this.layers = layers;
    // Every layer was checked against the schema that RawConfig is inferred from.
    this.values = layers.reduce(mergeLayer, makeTable([])) as RawConfig;
  }

  /** The highest layer that sets this key or something below it. */
  originOf(path: readonly string[]): Layer | null {
    return this.layers.findLast(layer => valueAt(layer.values, path) !== undefined) ?? null;
  }

  /** An error about a value, placed where it was set. */
  errorAt(path: readonly string[], message: string): ConfigError {
    const origin = this.originOf(path);
    return new ConfigError(
      origin === null ? `${message} in \`${dotted(path)}\`` : atLayer(origin, path, message, 'value'),
    );
  }
}

/** An override that empties the MCP servers means none of them; everywhere else an empty table changes nothing. */
function mergeLayer(below: Table, layer: Layer): Table {
  const servers = layer.values['mcp_servers'];
  const merged = mergeTables(below, layer.values);
  if (layer.kind !== 'override' || !isTable(servers) || Object.keys(servers).length > 0) return merged;
  return makeTable([...Object.entries(merged), ['mcp_servers', servers]]);
}
