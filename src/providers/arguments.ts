/** Arguments of a tool call as models and servers really write them -> JSON text that fits the tool's schema. */
import type { JsonSchema } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { arrayOf, objectOf, parseJson } from './json.js';

/**
 * Blank text becomes `{}`; an object written as a JSON text inside a text is unwrapped; texts that hold JSON are decoded
 * where `schema` wants that type and no text; nulls for optional values that may not be null are dropped. Text that
 * needs none of this, and text that is no JSON, stays as it is.
 */
export function normaliseArguments(text: string, schema: JsonSchema | undefined): string {
  if (text.trim() === '') return '{}';
  const parsed = parseJson(text);
  const inner = typeof parsed === 'string' ? parseJson(parsed) : undefined;
  const value = isObject(inner) ? inner : parsed;
  if (!isObject(value)) return text;
  const fitted = schema === undefined ? value : fit(value, schema);
  return fitted === parsed ? text : JSON.stringify(fitted);
}

/** `value` in the types of `schema`; the same value when nothing had to change. */
function fit(value: unknown, schema: unknown): unknown {
  if (typeof value === 'string') return decode(value, schema);
  if (Array.isArray(value)) {
    const items = objectOf(schema).items;
    const fitted = value.map(entry => fit(entry, items));
    return fitted.some((entry, index) => entry !== value[index]) ? fitted : value;
  }
  return isObject(value) ? fitObject(value, objectOf(schema)) : value;
}

function fitObject(value: Readonly<Record<string, unknown>>, schema: Readonly<Record<string, unknown>>): unknown {
  const properties = objectOf(schema.properties);
  const required = arrayOf(schema.required);
  const fitted: Record<string, unknown> = {};
  let changed = false;
  for (const [name, entry] of Object.entries(value)) {
    const wanted = properties[name];
    if (entry === null && wanted !== undefined && !required.includes(name) && !allows(wanted, 'null')) {
      changed = true;
      continue;
    }
    fitted[name] = fit(entry, wanted);
    changed ||= fitted[name] !== entry;
  }
  return changed ? fitted : value;
}

function decode(text: string, schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.length === 0 || types.includes('string')) return text;
  const parsed = parseJson(text);
  const type = jsonType(parsed);
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'));
  return fits ? fit(parsed, schema) : text;
}

function allows(schema: unknown, type: string): boolean {
  const types = typesOf(schema);
  return types.length === 0 || types.includes(type);
}

/** The JSON types that a schema names, its alternatives included; empty = any. */
function typesOf(schema: unknown): string[] {
  const { type, anyOf, oneOf } = objectOf(schema);
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter(entry => typeof entry === 'string');
  const alternatives = [...arrayOf(anyOf), ...arrayOf(oneOf)].map(typesOf);
  return alternatives.some(types => types.length === 0) ? [] : alternatives.flat();
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'undefined' ? 'undefined' : typeof value;
}
