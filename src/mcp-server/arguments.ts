/** What callers pass to the tools: checked, named in errors, never guessed. */
import { SANDBOX_MODES, type SandboxMode } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import type { JsonObject } from './message.js';
import { APPROVAL_POLICIES, CODEX, CODEX_REPLY } from './tool-definitions.js';

/** The arguments of `codex`; absent = the caller did not say. */
export type CodexCall = {
  readonly prompt: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly approvalPolicy?: (typeof APPROVAL_POLICIES)[number];
  readonly sandbox?: SandboxMode;
  /** Keys may be dotted; values are JSON. */
  readonly config?: Readonly<JsonObject>;
  readonly baseInstructions?: string;
  readonly developerInstructions?: string;
  readonly compactPrompt?: string;
};

export type ReplyCall = { readonly prompt: string; readonly threadId: string };

/** The message is for the caller. */
export class ArgumentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArgumentError';
  }
}

const CODEX_FIELDS = [
  'prompt',
  'model',
  'cwd',
  'approval-policy',
  'sandbox',
  'config',
  'base-instructions',
  'developer-instructions',
  'compact-prompt',
];
const REPLY_FIELDS = ['prompt', 'threadId', 'conversationId'];
const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** Throws ArgumentError. */
export function parseCodexCall(raw: unknown): CodexCall {
  const fields = new Fields(CODEX, CODEX_FIELDS, raw);
  return {
    prompt: fields.prompt(),
    ...present('model', fields.text('model')),
    ...present('cwd', fields.text('cwd')),
    ...present('approvalPolicy', fields.choice('approval-policy', APPROVAL_POLICIES)),
    ...present('sandbox', fields.choice('sandbox', SANDBOX_MODES)),
    ...present('config', fields.table('config')),
    ...present('baseInstructions', fields.text('base-instructions')),
    ...present('developerInstructions', fields.text('developer-instructions')),
    ...present('compactPrompt', fields.text('compact-prompt')),
  };
}

/** Throws ArgumentError. The thread id comes back in its usual form: lower-case, without `urn:uuid:`. */
export function parseReplyCall(raw: unknown): ReplyCall {
  const fields = new Fields(CODEX_REPLY, REPLY_FIELDS, raw);
  const prompt = fields.prompt();
  const given = fields.text('threadId') ?? fields.text('conversationId');
  if (given === undefined) {
    throw new ArgumentError(
      '`threadId` is missing: pass the `threadId` of an earlier `codex` result (`conversationId` is accepted too).',
    );
  }
  const id = given.trim().replace(/^urn:uuid:/i, '');
  if (!UUID.test(id)) {
    throw new ArgumentError(`\`threadId\` must be the id of a thread (a UUID), got ${quote(given)}. No such thread.`);
  }
  const hex = id.replaceAll('-', '').toLowerCase();
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return { prompt, threadId: parts.join('-') };
}

/** The members of one arguments object. `null` counts as absent, as it always did for optional ones. */
class Fields {
  readonly #tool: string;
  readonly #values: JsonObject;

  constructor(tool: string, known: readonly string[], raw: unknown) {
    this.#tool = tool;
    if (raw === undefined || raw === null) {
      throw new ArgumentError(`No arguments were given to \`${tool}\`; at least \`prompt\` is needed.`);
    }
    if (!isObject(raw)) throw new ArgumentError(`The arguments of \`${tool}\` must be an object, got ${kindOf(raw)}.`);
    const unknown = Object.keys(raw).filter(key => !known.includes(key));
    if (unknown.length > 0) {
      const names = unknown.slice(0, 5).map(quote).join(', ');
      const list = known.map(name => `\`${name}\``).join(', ');
      throw new ArgumentError(
        `Unknown argument${unknown.length > 1 ? 's' : ''} ${names} for \`${tool}\`. It takes ${list}.`,
      );
    }
    this.#values = raw;
  }

  prompt(): string {
    const value = this.text('prompt');
    if (value === undefined) {
      throw new ArgumentError(`\`prompt\` is missing: \`${this.#tool}\` needs the text for the agent.`);
    }
    if (value.trim() === '') {
      throw new ArgumentError(`\`prompt\` is empty: \`${this.#tool}\` needs the text for the agent.`);
    }
    return value;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') throw new ArgumentError(`\`${name}\` must be a string, got ${kindOf(value)}.`);
    return value;
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.#values[name];
    if (value === undefined || value === null) return undefined;
    const found = allowed.find(candidate => candidate === value);
    if (found === undefined) {
      const list = allowed.map(candidate => `\`${candidate}\``).join(', ');
      const got = typeof value === 'string' ? quote(value) : kindOf(value);
      throw new ArgumentError(`\`${name}\` must be one of ${list}; got ${got}.`);
    }
    return found;
  }

  table(name: string): JsonObject | undefined {
    const value = this.#values[name];
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw new ArgumentError(`\`${name}\` must be an object, got ${kindOf(value)}.`);
    return value;
  }
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
