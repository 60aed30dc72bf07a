/** `--output-schema`: the schema that the final answer has to match. */
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '../../protocol/index.js';
import { isObject, messageOf } from '../../util/index.js';
import { ExitError } from '../exit-error.js';

/** Throws ExitError for a file that can't be read or holds no schema. */
export function readOutputSchema(file: string): JsonSchema {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ExitError(1, `Failed to read output schema file ${file}: ${messageOf(error)}`);
  }
  let schema: unknown;
  try {
    schema = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new ExitError(1, `Output schema file ${file} is not valid JSON: ${messageOf(error)}`);
  }
  if (!isObject(schema)) {
    throw new ExitError(1, `Output schema file ${file} is not a JSON Schema: it has to hold an object.`);
  }
  return schema;
}
