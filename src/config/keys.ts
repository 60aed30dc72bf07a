/**
 * How keys are described: each one once, with its type, default and meaning. The types of the code, the JSON Schema,
 * the reference page and all checks come from these descriptions. A zod type is made when a value of it is first
 * checked: a whole schema costs more than everything else that loading does.
 */
import * as z from 'zod';

/** Expands `~`; relative paths belong to the folder of the layer they stand in. */
export type Absolute = (path: string) => string;

export type ValueKey<T = unknown> = {
  readonly kind: 'value';
  readonly doc: string;
  readonly type: () => z.ZodType<T>;
  /** True for values that are of the type beyond doubt: for the simplest ones it need not be made. */
  plain?(value: unknown): boolean;
  /** As it is shown in the reference. */
  readonly default: string | null;
  /** Makes the paths in a value absolute. */
  resolve?(value: T, absolute: Absolute): T;
};
export type TableKey<S extends Keys = Keys> = { readonly kind: 'table'; readonly doc: string; readonly keys: S };
/** A table whose names are chosen by the person. */
export interface MapKey<N extends KeyNode = KeyNode> {
  readonly kind: 'map';
  readonly doc: string;
  /** What the names are, for the reference: `id` is shown as `<id>`. */
  readonly name: string;
  readonly each: N;
  /** Where names are paths: makes one absolute. */
  resolveName?(name: string, absolute: Absolute): string;
}
export type KeyNode = ValueKey | TableKey | MapKey;
export type Keys = { readonly [name: string]: KeyNode };

/** What a key holds after it was checked. */
export type Infer<N> =
  N extends ValueKey<infer T>
    ? T
    : N extends TableKey<infer S>
      ? { readonly [K in keyof S]?: Infer<S[K]> }
      : N extends MapKey<infer M>
        ? { readonly [name: string]: Infer<M> }
        : never;

export function value<T>(
  doc: string,
  type: () => z.ZodType<T>,
  fallback: string | null = null,
  resolve?: (value: T, absolute: Absolute) => T,
): ValueKey<T> {
  return { kind: 'value', doc, type, default: fallback, ...(resolve === undefined ? {} : { resolve }) };
}

/** The same key with a test for plain values. */
export function plainly<T>(key: ValueKey<T>, plain: (value: unknown) => boolean): ValueKey<T> {
  return { ...key, plain };
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';

export function path(doc: string, fallback: string | null = null): ValueKey<string> {
  const key = value(
    doc,
    () => z.string().min(1),
    fallback,
    (one, absolute) => absolute(one),
  );
  return plainly(key, isText);
}

export function paths(doc: string, fallback: string | null = null): ValueKey<string[]> {
  return value(
    doc,
    () => z.array(z.string().min(1)),
    fallback,
    (all, absolute) => all.map(absolute),
  );
}

export function table<S extends Keys>(doc: string, keys: S): TableKey<S> {
  return { kind: 'table', doc, keys };
}

export function map<N extends KeyNode>(
  doc: string,
  name: string,
  each: N,
  resolveName?: (name: string, absolute: Absolute) => string,
): MapKey<N> {
  return { kind: 'map', doc, name, each, ...(resolveName === undefined ? {} : { resolveName }) };
}

export const text = (doc: string, fallback: string | null = null) =>
  plainly(
    value(doc, () => z.string(), fallback),
    isText,
  );
export const name = (doc: string, fallback: string | null = null) =>
  plainly(
    value(doc, () => z.string().min(1), fallback),
    isText,
  );
export const flag = (doc: string, fallback: boolean) =>
  plainly(
    value(doc, () => z.boolean(), String(fallback)),
    one => typeof one === 'boolean',
  );
export const count = (doc: string, fallback: string | null = null) =>
  value(doc, () => z.number().int().min(0).max(Number.MAX_SAFE_INTEGER), fallback);
export const tokens = (doc: string, fallback: string | null = null) =>
  value(doc, () => z.number().int().min(1).max(Number.MAX_SAFE_INTEGER), fallback);
/** Up to what a timer can wait. */
export const milliseconds = (doc: string, fallback: string | null = null) =>
  value(doc, () => z.number().int().min(1).max(2_000_000_000), fallback);
export const seconds = (doc: string, fallback: string | null = null) =>
  value(doc, () => z.number().min(0.001).max(2_000_000), fallback);
export const texts = (doc: string, fallback: string | null = null) => value(doc, () => z.array(z.string()), fallback);
export const textMap = (doc: string) => value(doc, () => z.record(z.string(), z.string()));
export function oneOf<const T extends readonly [string, ...string[]]>(
  doc: string,
  allowed: T,
  fallback: string | null = null,
): ValueKey<T[number]> {
  const words: readonly unknown[] = allowed;
  return plainly(
    value<T[number]>(doc, () => z.enum(allowed), fallback),
    one => words.includes(one),
  );
}
