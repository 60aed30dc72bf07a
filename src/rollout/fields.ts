/** Reading fields of JSON that anybody may have written: the value when it has the type, else null. */
import { isObject } from '../util/index.js';

export type Fields = { readonly [key: string]: unknown };

export function asFields(value: unknown): Fields | null {
  return isObject(value) ? value : null;
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A number that is finite and not negative. */
export function asCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

export function asArray(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}

export function asStrings(value: unknown): string[] {
  return asArray(value)?.filter(entry => typeof entry === 'string') ?? [];
}
