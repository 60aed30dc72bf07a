/** A schema for the final answer, put into words for providers that can't enforce one beside tools. */
import type { JsonSchema } from '../protocol/index.js';

export function outputSchemaText(schema: JsonSchema): string {
  return `When you give your final answer, it must be one JSON value that matches the JSON Schema below: no other text, no code fence. Tool calls before it are made as usual.\n\n${JSON.stringify(schema)}`;
}
