/** A tool under the name and the arguments that a family of models knows: a description, and a way to what we have. */
import * as z from 'zod';
import type { ToolSpec } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { functionSpec, parseArguments } from './define-tool.js';
import type { Tool, ToolAction } from './tool.js';

type Translation<Schema extends z.ZodObject, Call> = {
  readonly name: string;
  readonly description: string;
  /** What the model is offered. Arguments that it does not name are ignored. */
  readonly input: Schema;
  /** Spellings that models use as well -> the name in `input`; taken where that is absent. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly action: ToolAction<Call>;
  /** Names and units of the family -> those of the action. Pure. */
  readonly translate: (args: z.output<Schema>) => Call;
};

export function translatedTool<Schema extends z.ZodObject, Call>(definition: Translation<Schema, Call>): Tool {
  const { name, description, input, aliases = {}, action, translate } = definition;
  const accepted = z.preprocess(args => lenient(args, input, aliases), input);
  let spec: ToolSpec | undefined;
  const tool: Tool<Call> = {
    name,
    get spec() {
      spec ??= functionSpec(name, description, input);
      return spec;
    },
    parallel: action.parallel,
    parse: raw => {
      const parsed = parseArguments(raw, accepted);
      return parsed.ok ? { ok: true, input: translate(parsed.input) } : parsed;
    },
    runsAlone: raw => {
      const parsed = action.alone && parseArguments(raw, accepted);
      return parsed?.ok === true && action.alone?.(translate(parsed.input)) === true;
    },
    plan: (call, facts) => action.plan(call, facts),
    run: (call, context) => action.run(call, context),
  };
  return tool as Tool;
}

/** Arguments as models write them: other spellings, JSON inside a text. */
function lenient(args: unknown, input: z.ZodObject, aliases: Readonly<Record<string, string>>): unknown {
  if (!isObject(args)) return args;
  const out = new Map<string, unknown>(Object.entries(args));
  for (const [alias, name] of Object.entries(aliases)) {
    if (out.has(alias) && !out.has(name)) out.set(name, out.get(alias));
  }
  for (const [name, field] of Object.entries(input.shape)) {
    const value = out.get(name);
    if (typeof value === 'string') out.set(name, decoded(value, field));
  }
  return Object.fromEntries(out);
}

/** The value that a text holds as JSON, where the field takes that and no text. */
function decoded(text: string, field: z.core.$ZodType): unknown {
  if (z.safeParse(field, text).success) return text;
  try {
    const value: unknown = JSON.parse(text);
    return z.safeParse(field, value).success ? value : text;
  } catch {
    // No JSON: the text is what the message about the argument should speak of.
    return text;
  }
}
