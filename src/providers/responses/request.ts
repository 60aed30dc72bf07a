/** A request as the Responses API takes it: history items go out nearly as they are. */
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { HistoryItem, ModelInfo, ModelRequest, ProviderSettings, ToolSpec } from '../../protocol/index.js';
import { hostIs } from '../endpoint.js';
import {
  asFunctionCall,
  CUSTOM_TOOL_PARAMETERS,
  customToolDescription,
  visibleOutput,
  visibleParts,
} from '../history-items.js';
import { sentEffort } from '../reasoning.js';
import type { WireContext, WireRequest } from '../wire.js';

export function encodeResponses(context: WireContext): WireRequest {
  const { request } = context;
  return {
    path: 'responses',
    headers: {
      'session-id': request.thread_id,
      'thread-id': request.thread_id,
      'x-client-request-id': request.thread_id,
      'x-interpreter-window-id': `${request.thread_id}:${request.window}`,
    },
    body: encodeBody(context),
  };
}

/** The vendor's own types watch over the names of the fields. */
type Fields = { readonly [field in keyof ResponseCreateParamsStreaming]?: unknown };

function encodeBody({ request, settings, lessons }: WireContext): Fields {
  const { model } = request;
  const reasoning = encodeReasoning(request);
  const text = encodeText(request);
  return {
    model: model.id,
    instructions: request.instructions,
    input: request.input
      .filter(item => item.type !== 'reasoning' || !lessons.has('once:reasoning'))
      .flatMap(item => encodeItem(item, request)),
    tools: request.tools.map(tool => encodeTool(tool, model, settings)),
    tool_choice: 'auto',
    parallel_tool_calls: request.parallel_tool_calls && model.parallel_tool_calls,
    ...(reasoning ? { reasoning } : {}),
    store: false,
    stream: true,
    include: canReason(model) ? ['reasoning.encrypted_content'] : [],
    prompt_cache_key: request.thread_id,
    ...(text ? { text } : {}),
    ...(request.service_tier === null ? {} : { service_tier: request.service_tier }),
  };
}

/** Models known not to reason refuse every word about it. */
function canReason(model: ModelInfo): boolean {
  return !model.known || model.reasoning_efforts.length > 0 || model.reasoning_summaries;
}

function encodeReasoning(request: ModelRequest): { effort?: string; summary?: string } | null {
  const effort = sentEffort(request);
  const { summary } = request.reasoning;
  const withSummary =
    summary !== null && summary !== 'none' && (request.model.reasoning_summaries || !request.model.known);
  if (effort === null && !withSummary) return null;
  return { ...(effort === null ? {} : { effort }), ...(withSummary ? { summary } : {}) };
}

function encodeText(request: ModelRequest): Record<string, unknown> | null {
  const verbosity = request.model.verbosity || !request.model.known ? request.verbosity : null;
  const schema = request.output_schema;
  if (verbosity === null && schema === null) return null;
  return {
    ...(verbosity === null ? {} : { verbosity }),
    ...(schema === null ? {} : { format: { type: 'json_schema', name: 'final_answer', strict: true, schema } }),
  };
}

function encodeTool(tool: ToolSpec, model: ModelInfo, settings: ProviderSettings): Record<string, unknown> {
  switch (tool.type) {
    case 'function':
      return {
        type: 'function',
        name: tool.name,
        description: tool.description,
        strict: false,
        parameters: tool.parameters,
      };
    case 'custom':
      if (model.custom_tools) {
        const format = { type: 'grammar', syntax: tool.grammar.syntax, definition: tool.grammar.definition };
        return { type: 'custom', name: tool.name, description: tool.description, format };
      }
      return {
        type: 'function',
        name: tool.name,
        description: customToolDescription(tool),
        strict: false,
        parameters: CUSTOM_TOOL_PARAMETERS,
      };
    case 'web_search':
      // xAI knows the tool but not the field.
      if (hostIs(settings, 'x.ai')) return { type: 'web_search' };
      return { type: 'web_search', external_web_access: tool.external_web_access };
  }
}

/** The items that go out for one of ours: it without `replay`, another form of it, or nothing. */
function encodeItem(item: HistoryItem, request: ModelRequest): Record<string, unknown>[] {
  const { model } = request;
  const { replay, ...plain } = item;
  switch (plain.type) {
    case 'message':
      return [withKnownId({ ...plain, content: visibleParts(plain.content, model) }, 'msg_')];
    case 'reasoning':
      // Other wires' reasoning means nothing here, and without its encrypted text an item can't be looked up.
      if (replay !== undefined && replay.wire !== 'responses') return [];
      return [withKnownId(plain, 'rs_')];
    case 'function_call':
      return [withKnownId(plain, 'fc_')];
    case 'custom_tool_call':
      if (model.custom_tools) return [withKnownId(plain, 'ctc_', 'ct_')];
      return [asFunctionCall(plain)];
    case 'function_call_output':
      return [withKnownId({ ...plain, output: visibleOutput(plain.output, model) }, 'fc')];
    case 'custom_tool_call_output': {
      const output = visibleOutput(plain.output, model);
      if (model.custom_tools) return [withKnownId({ ...plain, output }, 'ctc')];
      return [{ type: 'function_call_output', call_id: plain.call_id, output }];
    }
    case 'web_search_call':
    case 'local_shell_call':
    case 'tool_search_call':
    case 'tool_search_output':
    case 'image_generation_call':
    case 'compaction':
      return [plain];
  }
}

/** Servers check the form of ids: one that another wire made up is left out. */
function withKnownId<T extends { id?: string }>(item: T, ...prefixes: string[]): Omit<T, 'id'> | T {
  const { id, ...rest } = item;
  return id !== undefined && prefixes.some(prefix => id.startsWith(prefix)) ? item : rest;
}
