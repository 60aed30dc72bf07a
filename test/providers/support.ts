/** What the tests of this room share: a provider against a model server, requests, reading a stream. */
import type { HistoryItem, ModelEvent, ModelRequest, ProviderSettings, ToolSpec } from '../../src/protocol/index.js';
import {
  type Connections,
  createConnections,
  createProvider,
  modelInfo,
  type ProviderDeps,
} from '../../src/providers/index.js';

const EXEC: ToolSpec = {
  type: 'function',
  name: 'exec_command',
  description: 'Runs a command.',
  parameters: {
    type: 'object',
    properties: {
      cmd: { type: 'string' },
      workdir: { type: 'string' },
      yield_time_ms: { type: 'number' },
      tty: { type: 'boolean' },
      prefix_rule: { type: 'array', items: { type: 'string' } },
    },
    required: ['cmd'],
    additionalProperties: false,
  },
};
const NOARGS: ToolSpec = {
  type: 'function',
  name: 'noargs',
  description: 'Takes nothing.',
  parameters: { type: 'object', properties: {} },
};
const PATCH: ToolSpec = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Changes files.',
  grammar: { syntax: 'lark', definition: 'start: "*** Begin Patch" LF' },
};
export const TOOLS: readonly ToolSpec[] = [EXEC, NOARGS, PATCH];

export function settingsFor(changes: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    id: 'test',
    name: 'Test',
    base_url: 'http://127.0.0.1:9/v1',
    wire_api: 'responses',
    http_headers: {},
    env_http_headers: {},
    query_params: {},
    request_max_retries: 0,
    stream_max_retries: 0,
    stream_idle_timeout_ms: 5000,
    ...changes,
  };
}

export function user(text: string): HistoryItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

export function developer(text: string): HistoryItem {
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
}

export function assistant(text: string, changes: Partial<HistoryItem & { type: 'message' }> = {}): HistoryItem {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }], ...changes };
}

export function call(call_id: string, args: string, name = 'exec_command'): HistoryItem {
  return { type: 'function_call', call_id, name, arguments: args };
}

export function output(call_id: string, text: string): HistoryItem {
  return { type: 'function_call_output', call_id, output: text };
}

export function requestFor(
  settings: ProviderSettings,
  changes: Partial<ModelRequest> & { modelId?: string } = {},
): ModelRequest {
  const { modelId, ...rest } = changes;
  return {
    model: modelInfo(modelId ?? 'some-model', settings),
    instructions: 'Be brief.',
    input: [user('hello')],
    tools: [],
    parallel_tool_calls: true,
    reasoning: { effort: null, summary: null },
    verbosity: null,
    service_tier: null,
    output_schema: null,
    thread_id: 'thread-1',
    turn_id: 'turn-1',
    window: 0,
    headers: {},
    ...rest,
  };
}

export const DEPS: ProviderDeps = { env: {}, originator: 'test', version: '1.2.3' };

export type Answer = {
  readonly events: ModelEvent[];
  readonly items: HistoryItem[];
  readonly text: string;
  readonly last: ModelEvent;
};

/** Reads a stream to its end. */
export async function collect(stream: AsyncIterable<ModelEvent>): Promise<Answer> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return {
    events,
    items: events.flatMap(event => (event.type === 'item.completed' ? [event.item] : [])),
    text: events.map(event => (event.type === 'text.delta' ? event.delta : '')).join(''),
    last: events.at(-1) ?? { type: 'started' },
  };
}

/** One request with a provider of its own. */
export async function ask(
  settings: ProviderSettings,
  changes: Partial<ModelRequest> & { modelId?: string } = {},
  deps: Partial<ProviderDeps> = {},
): Promise<Answer> {
  const provider = createProvider(settings, { ...DEPS, ...deps });
  return await collect(provider.stream(requestFor(settings, changes), new AbortController().signal));
}

/** Connections that reach `target` whatever host they are asked for: the vendors' hosts, without the network. */
export function redirected(target: string): Connections {
  const real = createConnections({});
  const { host } = new URL(target);
  return {
    ...real,
    send: request => {
      const url = new URL(request.url);
      url.protocol = 'http:';
      url.host = host;
      return real.send({ ...request, url });
    },
  };
}

/** Items without the ids that were made up. */
export function plain(items: readonly HistoryItem[]): unknown[] {
  return items.map(item => {
    const { id: _id, ...rest } = item;
    return rest;
  });
}
