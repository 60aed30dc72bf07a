/** Reading values that came from a server: nothing is trusted, nothing throws. */
import { isObject } from '../util/index.js';

export type JsonObject = { readonly [key: string]: unknown };

/** The object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The array, or an empty one. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The string, or "". */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The finite number, or undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The parsed JSON text, or undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an ordinary answer here; the caller decides what it means.
    return undefined;
  }
}
