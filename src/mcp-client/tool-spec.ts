/** A tool of a server as it is offered to a model: legal for every wire, and bounded. */
import type { JsonSchema, ToolSpec } from '../protocol/index.js';

/** Bytes. What is longer says little more and is paid for with every request. */
const MAX_DESCRIPTION = 4 * 1024;
const MAX_SCHEMA = 32 * 1024;
/** Characters of one description inside a schema that is too long. */
const SHORT_TEXT = 160;

export type SpecSource = {
  readonly server: string;
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly input_schema: JsonSchema;
};

export function toolSpec(flatName: string, tool: SpecSource): ToolSpec & { type: 'function' } {
  const text =
    tool.description?.trim() || tool.title?.trim() || `The tool ${tool.name} of the MCP server ${tool.server}.`;
  return {
    type: 'function',
    name: flatName,
    description: shortened(text),
    parameters: boundedSchema(tool.input_schema),
  };
}

function shortened(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_DESCRIPTION) return text;
  // A character that the cut splits is dropped.
  return `${bytes.toString('utf8', 0, MAX_DESCRIPTION).replace(/\ufffd$/, '')}…`;
}

function boundedSchema(schema: JsonSchema): JsonSchema {
  const whole = { ...schema, type: 'object', properties: schema.properties ?? {} };
  if (sizeOf(whole) <= MAX_SCHEMA) return whole;
  const brief = withoutDetails(whole, 0) as JsonSchema;
  if (sizeOf(brief) <= MAX_SCHEMA) return brief;
  const names = Object.keys(whole.properties as object).slice(0, 200);
  return {
    type: 'object',
    description: `The schema is too long to be shown. Its properties: ${names.join(', ')}`.slice(0, MAX_DESCRIPTION),
    additionalProperties: true,
  };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Members of a schema whose keys are names that somebody chose. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Without examples, and with short descriptions. `named`: the keys of this object are names, not keywords. */
function withoutDetails(value: unknown, depth: number, named = false): unknown {
  if (Array.isArray(value)) return value.map(item => withoutDetails(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 24) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (!named && (key === 'examples' || key === '$comment')) return [];
      if (!named && key === 'description' && typeof inner === 'string') return [[key, inner.slice(0, SHORT_TEXT)]];
      return [[key, withoutDetails(inner, depth + 1, !named && NAMED.has(key))]];
    }),
  );
}
