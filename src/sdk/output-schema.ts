/** Output schemas: JSON Schema as it is, or a schema of a library that can say itself as JSON Schema. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../util/index.js';
import { OutputSchemaError } from './errors.js';

/** What libraries such as zod 4 put into their schemas (standardschema.dev); T is the type of a valid value. */
export type StandardSchema<T> = {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly output: T } | undefined;
  };
};

type JsonSchemaOf = { output(options: { target: string }): unknown };
type Issue = { readonly message: string; readonly path?: readonly unknown[] };
type Result = { readonly value?: unknown; readonly issues?: readonly Issue[] };

/** The JSON Schema to send. Throws OutputSchemaError. */
export async function jsonSchemaOf(schema: unknown): Promise<object> {
  const found = isStandard(schema) ? await converted(schema) : schema;
  if (isObject(found)) return found;
  throw new OutputSchemaError('outputSchema must be a JSON Schema object or a schema of zod 4.');
}

/** The answer as a value, checked by the library of the schema where it is of one. Throws OutputSchemaError. */
export async function parseAnswer(schema: unknown, answer: string): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch (error) {
    throw new OutputSchemaError(`The answer is no JSON: ${answer.slice(0, 200)}`, { cause: error });
  }
  if (!isStandard(schema)) return value;
  const result = (await schema['~standard'].validate(value)) as Result;
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map(({ message, path }) => `${pathText(path)}${message}`).join('; ');
  throw new OutputSchemaError(`The answer does not match the schema: ${issues}`);
}

export type SchemaFile = { readonly path: string; remove(): Promise<void> };

/** A file with the schema, for as long as the turn lasts. */
export async function writeSchemaFile(schema: object): Promise<SchemaFile> {
  const folder = await mkdtemp(join(tmpdir(), 'interpreter-output-schema-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'schema.json');
  try {
    await writeFile(path, JSON.stringify(schema));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

function isStandard(schema: unknown): schema is StandardSchema<unknown> {
  const known = (typeof schema === 'object' || typeof schema === 'function') && schema !== null;
  return known && '~standard' in schema && typeof schema['~standard'] === 'object' && schema['~standard'] !== null;
}

async function converted(schema: StandardSchema<unknown>): Promise<unknown> {
  const standard: { readonly vendor: string; readonly jsonSchema?: JsonSchemaOf } = schema['~standard'];
  try {
    if (standard.jsonSchema) return standard.jsonSchema.output({ target: 'draft-2020-12' });
    // The first releases of zod 4 do it with a function.
    if (standard.vendor === 'zod' && '_zod' in schema) {
      const { toJSONSchema } = await import('zod');
      // Of the caller's copy of zod: the same at run time, another type.
      return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0]);
    }
  } catch (error) {
    throw new OutputSchemaError(`outputSchema can't be written as JSON Schema: ${String(error)}`, { cause: error });
  }
  throw new OutputSchemaError(
    `A schema of ${standard.vendor} can't say itself as JSON Schema. Use zod 4, or give a JSON Schema.`,
  );
}

function pathText(path: readonly unknown[] = []): string {
  const names = path.map(part => (typeof part === 'object' && part !== null && 'key' in part ? part.key : part));
  return names.length === 0 ? '' : `${names.map(String).join('.')}: `;
}
