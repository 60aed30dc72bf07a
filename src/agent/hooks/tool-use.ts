/** One use of a tool, in the words that hooks know. */
import type { Action, ToolOutput } from '../../protocol/index.js';

export type ToolUse = {
  readonly call_id: string;
  /** Name of the tool as the model knows it. */
  readonly tool: string;
  /** What the model wrote: the JSON text of a function call, the plain text of a custom call. */
  readonly raw: string;
  readonly action: Action;
};

export type HookToolUse = {
  readonly name: string;
  /** Other names that a matcher may use for it. */
  readonly aliases: readonly string[];
  readonly input: unknown;
};

export function hookToolUse({ tool, raw, action }: ToolUse): HookToolUse {
  switch (action.type) {
    case 'command':
      return { name: 'Bash', aliases: [], input: { command: action.argv.at(-1) ?? '' } };
    case 'patch':
      // Profiles have tools that name a file, with arguments of their own.
      return tool === 'apply_patch'
        ? { name: tool, aliases: ['Write', 'Edit'], input: { command: patchText(raw) } }
        : { name: tool, aliases: ['apply_patch', 'Write', 'Edit'], input: parsed(raw) };
    case 'mcp_tool':
      return { name: `mcp__${action.server}__${action.tool}`, aliases: [], input: action.arguments };
    case 'none':
      return { name: tool, aliases: [], input: parsed(raw) };
  }
}

/** What the tool gave back: of a command its output, without the lines about it that the model gets. */
export function hookToolResponse({ action }: ToolUse, output: ToolOutput): ToolOutput {
  if (action.type !== 'command' || typeof output !== 'string') return output;
  return /^Output:\n([\s\S]*)$/m.exec(output)?.[1] ?? output;
}

/** What the model is told when a hook forbids the call. */
export function blockedText(use: ToolUse, reason: string): string {
  const { name, input } = hookToolUse(use);
  if (use.action.type === 'command' || name === 'apply_patch') {
    return `Command blocked by PreToolUse hook: ${reason}. Command: ${(input as { command: string }).command}`;
  }
  return `Tool call blocked by PreToolUse hook: ${reason}. Tool: ${name}`;
}

/** Where a model has no freeform tools the patch is wrapped in JSON. */
function patchText(raw: string): string {
  const value = raw.trimStart().startsWith('{') ? parsed(raw) : null;
  if (typeof value !== 'object' || value === null) return raw;
  const text = 'input' in value ? value.input : 'patch' in value ? value.patch : null;
  return typeof text === 'string' ? text : raw;
}

function parsed(raw: string): unknown {
  try {
    return raw.trim() === '' ? {} : JSON.parse(raw);
  } catch {
    // The tool took it, so it is its own kind of text.
    return raw;
  }
}
