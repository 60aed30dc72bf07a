/** Makes a function tool's spec and parser from one zod object, so that what is offered is what is accepted. */
import * as z from 'zod';
import type { ToolSpec } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import type { Parsed, Tool } from './tool.js';

export type FunctionToolDefinition<Schema extends z.ZodObject> = {
  name: string;
  description: string;
  input: Schema;
  parallel: boolean;
  /** A call that must run alone although the tool is parallel. */
  runsAlone?: (input: z.output<Schema>) => boolean;
  plan: Tool<z.output<Schema>>['plan'];
  run: Tool<z.output<Schema>>['run'];
};

export function defineFunctionTool<Schema extends z.ZodObject>(
  definition: FunctionToolDefinition<Schema>,
): Tool<z.output<Schema>> {
  let spec: ToolSpec | undefined;
  const { runsAlone } = definition;
  return {
    name: definition.name,
    parallel: definition.parallel,
    get spec() {
      spec ??= functionSpec(definition.name, definition.description, definition.input);
      return spec;
    },
    parse: raw => parseArguments(raw, definition.input),
    ...(runsAlone ? { runsAlone: raw => isAlone(parseArguments(raw, definition.input), runsAlone) } : {}),
    plan: definition.plan,
    run: definition.run,
  };
}

function isAlone<Input>(parsed: Parsed<Input>, runsAlone: (input: Input) => boolean): boolean {
  return parsed.ok && runsAlone(parsed.input);
}

/** How a function tool is offered to models. */
export function functionSpec(name: string, description: string, input: z.ZodObject): ToolSpec {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: 'input' });
  return { type: 'function', name, description, parameters: { ...parameters, additionalProperties: false } };
}

/**
 * Parses the JSON text of a call. An empty text stands for no arguments, null for one that is left out: models write
 * it for optional ones. Members nobody knows are ignored.
 */
export function parseArguments<Schema extends z.ZodType>(raw: string, schema: Schema): Parsed<z.output<Schema>> {
  let value: unknown;
  try {
    value = raw.trim() === '' ? {} : JSON.parse(raw);
  } catch (error) {
    return { ok: false, message: `failed to parse function arguments: ${(error as Error).message}` };
  }
  const parsed = schema.safeParse(withoutNulls(value));
  if (parsed.success) return { ok: true, input: parsed.data };
  const issues = parsed.error.issues.map(issue => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  return { ok: false, message: `failed to parse function arguments: ${issues.join('; ')}` };
}

function withoutNulls(args: unknown): unknown {
  return isObject(args) ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) : args;
}
