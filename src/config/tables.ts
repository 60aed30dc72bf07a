/** Plain tables as they come out of TOML and JSON, before anything is known about them. */

export type Table = { readonly [key: string]: unknown };

export function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Own values only: names such as `constructor` are keys like any other. */
export function valueAt(table: unknown, path: readonly string[]): unknown {
  let value = table;
  for (const key of path) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** `{ a: { b: value } }` for the path `a`, `b`. */
export function tableAt(path: readonly string[], value: unknown): Table {
  return path.reduceRight<unknown>((inner, key) => makeTable([[key, inner]]), value) as Table;
}

/** A table without a prototype, so that no key can mean something else. */
export function makeTable(entries: Iterable<readonly [string, unknown]>): Table {
  const result = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of entries) result[key] = value;
  return result;
}

/** `above` over `below`: tables are merged key by key, everything else is replaced. */
export function mergeTables(below: Table, above: Table): Table {
  const result = new Map(Object.entries(below));
  for (const [key, value] of Object.entries(above)) {
    const old = result.get(key);
    result.set(key, isTable(old) && isTable(value) ? mergeTables(old, value) : value);
  }
  return makeTable(result);
}

/** A dotted path as it is written in TOML: names that are no bare keys are quoted. */
export function dotted(path: readonly (string | number)[]): string {
  return path
    .map(key => (typeof key === 'number' ? `[${key}]` : /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key)))
    .join('.')
    .replaceAll('.[', '[');
}
