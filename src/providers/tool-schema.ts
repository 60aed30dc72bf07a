/** Schemas of tools in the dialects of JSON Schema that providers take. */
import type { JsonSchema } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { arrayOf, type JsonObject, objectOf } from './json.js';

/**
 * `plain`: as it is. `anthropic`: the root is no choice. `gemini`: no references, no `oneOf`, `additionalProperties` or `patternProperties`, enums of texts
 * only. `moonshot`: every property has a type, types stand inside `anyOf` and never beside it, nothing beside `$ref`.
 */
export type SchemaDialect = 'plain' | 'anthropic' | 'gemini' | 'moonshot';

export function inDialect(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  switch (dialect) {
    case 'plain':
      return schema;
    case 'anthropic':
      return { ...withoutRootUnion(schema), type: 'object' };
    case 'gemini':
      return objectOf(forGemini(schema, { ...objectOf(schema.definitions), ...objectOf(schema.$defs) }, 0));
    case 'moonshot':
      return { ...objectOf(forMoonshot(withoutRootUnion(schema))), type: 'object' };
  }
}

const GEMINI_KEYS = [
  'type',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'nullable',
  'format',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'anyOf',
  'title',
  'default',
];
/** Schemas that refer to themselves are cut off here. */
const DEEPEST = 12;

function forGemini(schema: unknown, definitions: JsonObject, depth: number): unknown {
  if (!isObject(schema)) return {};
  if (typeof schema.$ref === 'string') {
    const target = definitions[schema.$ref.split('/').at(-1) ?? ''];
    const { $ref: _ref, ...beside } = schema;
    return depth >= DEEPEST
      ? { type: 'object' }
      : forGemini({ ...objectOf(target), ...beside }, definitions, depth + 1);
  }
  const out: Record<string, unknown> = {};
  for (const key of GEMINI_KEYS) if (schema[key] !== undefined) out[key] = schema[key];
  const next = (inner: unknown) => forGemini(inner, definitions, depth + 1);
  const alternatives = arrayOf(schema.anyOf ?? schema.oneOf);
  if (alternatives.length > 0) out.anyOf = alternatives.map(next);
  if (schema.items !== undefined) out.items = next(Array.isArray(schema.items) ? schema.items[0] : schema.items);
  if (isObject(schema.properties)) out.properties = mapValues(schema.properties, next);
  if (Array.isArray(schema.type)) Object.assign(out, oneType(schema.type));
  if (schema.const !== undefined) out.enum = [schema.const];
  // Enums are texts only there; the type says enough about numbers.
  if (Array.isArray(out.enum) && !out.enum.every(value => typeof value === 'string')) delete out.enum;
  if (depth === 0) out.type = 'object';
  return out;
}

function oneType(types: readonly unknown[]): { type: unknown; nullable?: true } {
  const others = types.filter(type => type !== 'null');
  return { type: others[0] ?? 'string', ...(others.length < types.length ? { nullable: true as const } : {}) };
}

function forMoonshot(schema: unknown): unknown {
  if (!isObject(schema)) return { type: 'string' };
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref.replace('#/definitions/', '#/$defs/') };
  const {
    anyOf,
    oneOf,
    allOf: _all,
    if: _if,
    then: _then,
    else: _else,
    not: _not,
    definitions,
    type,
    ...rest
  } = schema;
  const defs = { ...objectOf(definitions), ...objectOf(rest.$defs) };
  const out: Record<string, unknown> = { ...rest };
  if (Object.keys(defs).length > 0) out.$defs = mapValues(defs, forMoonshot);
  if (isObject(schema.properties)) out.properties = mapValues(schema.properties, forMoonshot);
  if (schema.items !== undefined) out.items = forMoonshot(schema.items);
  const alternatives = arrayOf(anyOf ?? oneOf);
  if (alternatives.length > 0) {
    out.anyOf = alternatives.map(entry =>
      forMoonshot(isObject(entry) && !('type' in entry) && type !== undefined ? { ...entry, type } : entry),
    );
    return out;
  }
  out.type = type ?? guessType(schema);
  return out;
}

/** A root that is a choice is refused: its alternatives become optional properties of one object. */
function withoutRootUnion(schema: JsonSchema): JsonSchema {
  const alternatives = arrayOf(schema.anyOf ?? schema.oneOf);
  if (alternatives.length === 0) return schema;
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  const merged = alternatives.reduce<JsonObject>(
    (all, entry) => ({ ...all, ...objectOf(objectOf(entry).properties) }),
    {},
  );
  return { ...rest, properties: { ...merged, ...objectOf(schema.properties) } };
}

function guessType(schema: JsonObject): string {
  if (schema.properties !== undefined) return 'object';
  if (schema.items !== undefined) return 'array';
  const sample = schema.const ?? arrayOf(schema.enum)[0];
  if (typeof sample === 'number') return 'number';
  return typeof sample === 'boolean' ? 'boolean' : 'string';
}

function mapValues(object: JsonObject, map: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
