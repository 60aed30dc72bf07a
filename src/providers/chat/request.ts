/** A request as the Chat Completions API takes it. */
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions/completions';
import type { ModelRequest, ToolSpec } from '../../protocol/index.js';
import { bareName } from '../families.js';
import { CUSTOM_TOOL_PARAMETERS, customToolDescription } from '../history-items.js';
import { outputSchemaText } from '../output-schema.js';
import { sentEffort } from '../reasoning.js';
import { inDialect } from '../tool-schema.js';
import type { WireBody, WireContext, WireRequest } from '../wire.js';
import { chatMessages } from './messages.js';
import { type ChatQuirks, chatQuirks } from './quirks.js';

export function encodeChat(context: WireContext): WireRequest {
  return { path: 'chat/completions', headers: {}, body: encodeBody(context) };
}

/** The vendor's own types watch over the names of the fields; those of other services come in by `quirks`. */
type Fields = { readonly [field in keyof ChatCompletionCreateParamsStreaming]?: unknown };

function encodeBody({ request, settings, lessons }: WireContext): WireBody {
  const quirks = withLessons(chatQuirks(settings, request.model), lessons);
  const tools = request.tools.flatMap(tool => encodeTool(tool, quirks));
  const { format, words } = outputSchema(request, quirks, tools.length > 0);
  const body: Fields = {
    model: request.model.id,
    messages: chatMessages(request, quirks, words),
    ...(tools.length > 0 ? { tools, tool_choice: 'auto' } : {}),
    stream: true,
    ...(quirks.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...parallel(request, quirks, tools.length > 0),
    ...maxTokens(request, quirks),
    ...reasoningFields(request, quirks),
    ...(quirks.promptCacheKey ? { prompt_cache_key: request.thread_id } : {}),
    ...(format ? { response_format: format } : {}),
    ...openaiFields(request, quirks),
    ...quirks.extra,
    ...onceFields(lessons),
  };
  return Object.fromEntries(Object.entries(body).filter(([field]) => !lessons.has(`without:${field}`)));
}

/** What was learnt about a service corrects the table. */
function withLessons(quirks: ChatQuirks, lessons: ReadonlySet<string>): ChatQuirks {
  return {
    ...quirks,
    ...(lessons.has('empty-reasoning') ? { emptyReasoning: true } : {}),
    ...(lessons.has('without-reasoning') ? { replayReasoning: false, emptyReasoning: false } : {}),
    ...(lessons.has('short-ids') ? { shortIds: true } : {}),
    ...(lessons.has('answer-after-tool') ? { answerAfterTool: true } : {}),
    ...(lessons.has('schema-in-words') ? { jsonSchema: false, outputSchema: 'words' as const } : {}),
    ...(lessons.has('max_tokens') && quirks.maxTokens
      ? { maxTokens: { ...quirks.maxTokens, field: 'max_tokens' as const } }
      : {}),
    ...(lessons.has('max_completion_tokens') && quirks.maxTokens
      ? { maxTokens: { ...quirks.maxTokens, field: 'max_completion_tokens' as const } }
      : {}),
  };
}

function encodeTool(tool: ToolSpec, quirks: ChatQuirks): Record<string, unknown>[] {
  switch (tool.type) {
    case 'function': {
      const parameters = inDialect(tool.parameters, quirks.schema);
      return [{ type: 'function', function: { name: tool.name, description: tool.description, parameters } }];
    }
    case 'custom': {
      const parameters = inDialect(CUSTOM_TOOL_PARAMETERS, quirks.schema);
      return [
        { type: 'function', function: { name: tool.name, description: customToolDescription(tool), parameters } },
      ];
    }
    // Nobody hosts a search on this wire.
    case 'web_search':
      return [];
  }
}

function parallel(request: ModelRequest, quirks: ChatQuirks, hasTools: boolean): WireBody {
  const wanted = request.parallel_tool_calls && request.model.parallel_tool_calls;
  return wanted || !hasTools || !quirks.parallelField ? {} : { parallel_tool_calls: false };
}

function maxTokens(request: ModelRequest, quirks: ChatQuirks): WireBody {
  const limit = request.model.max_output_tokens;
  if (quirks.maxTokens === null || limit === null) return {};
  return { [quirks.maxTokens.field]: Math.min(limit, quirks.maxTokens.cap) };
}

function outputSchema(
  request: ModelRequest,
  quirks: ChatQuirks,
  hasTools: boolean,
): { format?: WireBody; words?: string } {
  const schema = request.output_schema;
  if (schema === null) return {};
  if (!quirks.jsonSchema || (hasTools && quirks.outputSchema === 'words')) return { words: outputSchemaText(schema) };
  return { format: { type: 'json_schema', json_schema: { name: 'final_answer', strict: true, schema } } };
}

function openaiFields(request: ModelRequest, quirks: ChatQuirks): WireBody {
  if (!quirks.openaiFields) return {};
  return {
    store: false,
    ...(request.verbosity !== null && request.model.verbosity ? { verbosity: request.verbosity } : {}),
    ...(request.service_tier === null ? {} : { service_tier: request.service_tier }),
  };
}

function reasoningFields(request: ModelRequest, quirks: ChatQuirks): WireBody {
  const effort = sentEffort(request);
  if (effort === null) return {};
  const on = effort !== 'none';
  const toggle = { thinking: { type: on ? 'enabled' : 'disabled' } };
  switch (quirks.reasoning) {
    case 'effort':
      return { reasoning_effort: effort };
    case 'kimi':
      // From K3 on there is an effort and no `thinking`.
      return /^(?:kimi-)?k[3-9]/.test(bareName(request.model.id)) ? { reasoning_effort: effort } : toggle;
    case 'glm':
      return on && /^glm-(?:5\.[2-9]|[6-9])/.test(bareName(request.model.id))
        ? { ...toggle, reasoning_effort: effort }
        : toggle;
    case 'deepseek':
      return on ? { ...toggle, reasoning_effort: effort } : toggle;
    case 'qwen':
      return {
        enable_thinking: on,
        ...(on && BUDGETS[effort] !== undefined ? { thinking_budget: BUDGETS[effort] } : {}),
      };
    case 'openrouter':
      return { reasoning: on ? { effort } : { enabled: false } };
    case 'minimax':
      return { thinking: { type: on ? 'adaptive' : 'disabled' } };
  }
}

/** Tokens of thinking where a service counts them; above, its own maximum holds. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 4096, medium: 16_384 };

/** `once:afford:N`: OpenRouter said how many tokens the balance allows. `once:cooler`: Groq could not parse a call. */
function onceFields(lessons: ReadonlySet<string>): WireBody {
  const afford = [...lessons].find(lesson => lesson.startsWith('once:afford:'))?.split(':')[2];
  return {
    ...(afford === undefined ? {} : { max_tokens: Number(afford) }),
    ...(lessons.has('once:cooler') ? { temperature: 0.2 } : {}),
  };
}
