/** A request as the Messages API takes it. */
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ModelRequest, ProviderSettings, ToolSpec } from '../../protocol/index.js';
import { isAnthropic } from '../credentials.js';
import { claudeVersion } from '../families.js';
import { CUSTOM_TOOL_PARAMETERS, customToolDescription } from '../history-items.js';
import { outputSchemaText } from '../output-schema.js';
import { inDialect } from '../tool-schema.js';
import type { WireBody, WireContext, WireRequest } from '../wire.js';
import { historyMessages, type Message } from './messages.js';
import { thinkingFields } from './thinking.js';

/** Tokens of output asked for where the model's limit is not known, and at most. */
const DEFAULT_OUTPUT = 32_000;
const MOST_OUTPUT = 64_000;

export function encodeMessages(context: WireContext): WireRequest {
  const { settings, request } = context;
  const body = encodeBody(context);
  const beta = isAnthropic(settings) && body.thinking !== undefined && (claudeVersion(request.model.id) ?? 9) < 4.6;
  return {
    // The base may or may not hold the version; the URL has it once.
    path: /\/v1\/*$/.test(settings.base_url) ? 'messages' : 'v1/messages',
    headers: {
      'anthropic-version': '2023-06-01',
      // Thinking between tool calls; newer models do it by themselves, and other services know no such header.
      ...(beta ? { 'anthropic-beta': 'interleaved-thinking-2025-05-14' } : {}),
    },
    body,
  };
}

/** The vendor's own types watch over the names of the fields. */
type Fields = { readonly [field in keyof MessageCreateParamsStreaming]?: unknown };

function encodeBody({ request, settings, lessons }: WireContext): Fields {
  const { guidance, messages } = historyMessages(request, !lessons.has('once:thoughts'));
  const tools = request.tools.flatMap(tool => encodeTool(tool, settings));
  const max_tokens = outputLimit(request, lessons);
  const { format, words } = outputSchema(request, settings, lessons);
  const system = [request.instructions, ...guidance, words ?? ''].filter(text => text.trim() !== '');
  const { thinking, effort } = thinkingFields({ request, settings, messages, max_tokens, lessons });
  const output_config = { ...(effort ? { effort } : {}), ...(format ? { format } : {}) };
  markForCache(messages);
  return {
    model: request.model.id,
    max_tokens,
    ...(system.length > 0
      ? { system: system.map((text, index) => systemBlock(text, index === system.length - 1)) }
      : {}),
    messages,
    ...(tools.length > 0 ? { tools, tool_choice: toolChoice(request) } : {}),
    ...(thinking ? { thinking } : {}),
    ...(Object.keys(output_config).length > 0 ? { output_config } : {}),
    stream: true,
  };
}

/** Tools and system stand first in the cached prefix, so one mark at their end covers both. */
function systemBlock(text: string, last: boolean): Record<string, unknown> {
  return { type: 'text', text, ...(last ? { cache_control: { type: 'ephemeral' } } : {}) };
}

/** Marks the ends of the last two user messages: what this request writes and what the one before it wrote. */
function markForCache(messages: readonly Message[]): void {
  for (const message of messages.filter(({ role }) => role === 'user').slice(-2)) {
    const block = message.content.at(-1);
    if (block) block.cache_control = { type: 'ephemeral' };
  }
}

function outputLimit(request: ModelRequest, lessons: ReadonlySet<string>): number {
  const learnt = [...lessons].flatMap(lesson => (lesson.startsWith('max-tokens:') ? [Number(lesson.slice(11))] : []));
  return Math.min(request.model.max_output_tokens ?? DEFAULT_OUTPUT, MOST_OUTPUT, ...learnt);
}

function encodeTool(tool: ToolSpec, settings: ProviderSettings): Record<string, unknown>[] {
  switch (tool.type) {
    case 'function':
      return [
        { name: tool.name, description: tool.description, input_schema: inDialect(tool.parameters, 'anthropic') },
      ];
    case 'custom':
      return [{ name: tool.name, description: customToolDescription(tool), input_schema: CUSTOM_TOOL_PARAMETERS }];
    case 'web_search':
      // Its search is always live, and only Anthropic itself hosts it.
      return tool.external_web_access && isAnthropic(settings)
        ? [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }]
        : [];
  }
}

function toolChoice(request: ModelRequest): Record<string, unknown> {
  const parallel = request.parallel_tool_calls && request.model.parallel_tool_calls;
  return { type: 'auto', ...(parallel ? {} : { disable_parallel_tool_use: true }) };
}

function outputSchema(
  request: ModelRequest,
  settings: ProviderSettings,
  lessons: ReadonlySet<string>,
): { format?: WireBody; words?: string } {
  const schema = request.output_schema;
  if (schema === null) return {};
  const version = claudeVersion(request.model.id);
  const enforced = isAnthropic(settings) && version !== null && version >= 4.5 && !lessons.has('schema-in-words');
  return enforced ? { format: { type: 'json_schema', schema } } : { words: outputSchemaText(schema) };
}
