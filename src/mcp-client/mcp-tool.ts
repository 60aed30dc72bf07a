/** A tool of a server as a tool of the agent: its call is judged by what the server says about it, and passed on. */
import type { ApprovalDecision, McpServerSettings, McpToolCallItem, ToolSpec } from '../protocol/index.js';
import type { Parsed, Plan, Tool, ToolContext, ToolFacts, ToolResult } from '../tools/index.js';
import { isObject, messageOf } from '../util/index.js';
import type { AskPerson } from './ask-person.js';
import { keptResult, modelOutput } from './call-result.js';
import type { CallOutcome } from './connection.js';
import type { Server } from './server.js';
import type { ServerTool } from './server-tool.js';
import { toolSpec } from './tool-spec.js';

type Arguments = Record<string, unknown>;

export type McpToolOptions = {
  readonly flatName: string;
  readonly settings: McpServerSettings;
  readonly tool: ServerTool;
  readonly server: Server;
};

const NOBODY: ApprovalDecision = { type: 'denied', by: 'policy', reason: 'nobody can be asked' };

export class McpTool implements Tool<Arguments> {
  readonly name: string;
  readonly spec: ToolSpec & { type: 'function' };
  readonly parallel: boolean;
  readonly #options: McpToolOptions;

  constructor(options: McpToolOptions) {
    const { flatName, settings, tool } = options;
    this.#options = options;
    this.name = flatName;
    this.spec = toolSpec(flatName, { server: settings.name, ...tool });
    this.parallel = settings.supports_parallel_tool_calls;
  }

  /** The server's own words for it, for a search. */
  get searchText(): { server: string; tool: string; description: string; parameters: string[] } {
    const { settings, tool } = this.#options;
    return {
      server: settings.name,
      tool: tool.name,
      description: `${tool.title ?? ''} ${tool.description ?? ''}`,
      parameters: Object.keys((tool.input_schema.properties ?? {}) as object),
    };
  }

  parse(raw: string): Parsed<Arguments> {
    const text = raw.trim();
    if (text === '' || text === 'null') return { ok: true, input: {} };
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return { ok: false, message: `failed to parse function arguments: ${messageOf(error)}` };
    }
    if (isObject(value)) return { ok: true, input: value };
    return { ok: false, message: 'failed to parse function arguments: they must be a JSON object' };
  }

  plan(input: Arguments, facts: ToolFacts): Promise<Plan> {
    const { settings, tool } = this.#options;
    return Promise.resolve({
      type: 'act',
      action: {
        type: 'mcp_tool',
        server: settings.name,
        tool: tool.name,
        arguments: input,
        description: tool.description,
        approval_mode: settings.tool_approval_modes[tool.name] ?? settings.default_tools_approval_mode,
        read_only: tool.read_only,
        destructive: tool.destructive,
        open_world: tool.open_world,
      },
      item: this.#item(input, facts.call_id),
    });
  }

  async run(input: Arguments, context: ToolContext): Promise<ToolResult> {
    const started = performance.now();
    const { settings, tool, server } = this.#options;
    const outcome = await server.call({
      name: tool.name,
      arguments: input,
      meta: context.span.context(),
      timeout_ms: settings.tool_timeout_ms,
      signal: context.signal,
      ask: this.#askThrough(context),
      accept: current => (isRiskier(current, tool) ? CHANGED : null),
    });
    const item = { ...this.#item(input, context.call_id), duration_ms: performance.now() - started };
    context.emit({ type: 'item.completed', item: finished(item, outcome), at_ms: Date.now() });
    return this.#toolResult(outcome, context.output_budget_bytes);
  }

  #item(input: Arguments, callId: string): McpToolCallItem {
    const { settings, tool } = this.#options;
    return {
      type: 'mcp_tool_call',
      id: callId,
      server: settings.name,
      tool: tool.name,
      arguments: input,
      read_only: tool.read_only,
      result: null,
      error: null,
      status: 'in_progress',
      duration_ms: null,
    };
  }

  #askThrough({ ask }: ToolContext): AskPerson {
    const { name } = this.#options.settings;
    return question => ask?.({ server: name, ...question }) ?? Promise.resolve(NOBODY);
  }

  #toolResult(outcome: CallOutcome, budget: number): ToolResult {
    const { name } = this.#options.settings;
    switch (outcome.type) {
      case 'result':
        return { output: modelOutput(outcome.result, budget), is_error: outcome.result.is_error ?? false };
      case 'failed':
        return { output: `The call to the MCP server \`${name}\` failed: ${outcome.message}`, is_error: true };
      case 'interrupted':
        return { output: 'aborted by user', is_error: true };
    }
  }
}

const CHANGED =
  'the tool has changed since it was offered: it now says that it does more than before. Call it again to have that decided';

/** An approval, or its absence, was about the tool as it was known when the call was planned. */
function isRiskier(now: ServerTool, before: ServerTool): boolean {
  return (
    (before.read_only && !now.read_only) ||
    (!before.destructive && now.destructive) ||
    (!before.open_world && now.open_world)
  );
}

function finished(item: McpToolCallItem, outcome: CallOutcome): McpToolCallItem {
  switch (outcome.type) {
    case 'result': {
      const result = keptResult(outcome.result);
      return { ...item, result, status: result.is_error ? 'failed' : 'completed' };
    }
    case 'failed':
      return { ...item, error: { message: outcome.message }, status: 'failed' };
    case 'interrupted':
      return { ...item, error: { message: 'interrupted' }, status: 'failed' };
  }
}
