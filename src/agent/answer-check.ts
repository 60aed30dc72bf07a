/** Whether a final answer is what its caller asked for with an output schema. */
import type { ValidateFunction } from 'ajv';
import type { JsonSchema } from '../protocol/index.js';
import { messageOf } from '../util/index.js';

/** What is wrong with an answer, for the model and for people; null when nothing is. */
export type AnswerCheck = (answer: string | null) => Promise<string | null>;

/** Problems that are told; a model mends many by mending the first ones. */
const MAX_PROBLEMS = 10;

/**
 * Checks answers against a JSON Schema (draft 7 where it says so, else 2020-12). A schema that can't be used is told
 * once to `warn`; answers then only have to be JSON.
 */
export function createAnswerCheck(schema: JsonSchema, warn: (message: string) => void): AnswerCheck {
  let compiled: Promise<ValidateFunction | null> | null = null;
  return async answer => {
    compiled ??= compile(schema, warn);
    const validate = await compiled;
    let value: unknown;
    try {
      value = JSON.parse(answer ?? '');
    } catch (error) {
      return answer === null || answer.trim() === '' ? 'there is no answer' : `it is no JSON (${messageOf(error)})`;
    }
    if (validate === null || validate(value) === true) return null;
    const problems = (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message ?? 'is wrong'}${detail(params)}`,
    );
    return [...new Set(problems)].slice(0, MAX_PROBLEMS).join('; ');
  };
}

async function compile(schema: JsonSchema, warn: (message: string) => void): Promise<ValidateFunction | null> {
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  try {
    if (String(schema['$schema']).includes('draft-07')) {
      const { default: draft7 } = await import('ajv');
      return new draft7.Ajv(options).compile(schema);
    }
    const { default: draft2020 } = await import('ajv/dist/2020.js');
    return new draft2020.Ajv2020(options).compile(schema);
  } catch (error) {
    warn(`The output schema can't be used to check the answer: ${messageOf(error)}`);
    return null;
  }
}

/** The name or the values that the message of an error leaves out. */
function detail(params: Record<string, unknown>): string {
  const named = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (typeof named === 'string') return `: ${named}`;
  const allowed = params['allowedValues'];
  return Array.isArray(allowed) ? `: ${allowed.map(value => JSON.stringify(value)).join(', ')}` : '';
}
