/** The numbers: what each one is, and which events they follow from. */
import type { Attributes } from '../util/index.js';

export type Metric = {
  /** `updown`: goes down as well. */
  readonly kind: 'counter' | 'updown' | 'histogram';
  readonly unit: string;
  readonly description: string;
  readonly boundaries?: readonly number[];
};

export type MetricUpdate = { readonly name: MetricName; readonly value: number; readonly attributes: Attributes };

const MS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000];
/** Those of the conventions. */
const MODEL_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68,
];
const MCP_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];

const counter = (description: string, unit = '1'): Metric => ({ kind: 'counter', unit, description });
const updown = (description: string, unit = '1'): Metric => ({ kind: 'updown', unit, description });
const histogram = (description: string, unit: string, boundaries: readonly number[]): Metric => ({
  kind: 'histogram',
  unit,
  description,
  boundaries,
});

export const METRICS = {
  'codex.thread.started': counter('Threads that ran a turn in this process', '{thread}'),
  'codex.threads.active': updown('Threads in memory', '{thread}'),
  'codex.turns.active': updown('Turns that run', '{turn}'),
  'codex.conversation.turn.count': counter('Turns that ended', '{turn}'),
  'codex.turn.e2e_duration_ms': histogram('Time of a turn', 'ms', MS),
  'codex.turn.ttft.duration_ms': histogram('Time from the start of a turn to the first sign of an answer', 'ms', MS),
  'codex.turn.token_usage': histogram('Tokens of a turn', '{token}', TOKENS),
  'codex.api_request': counter('Attempts of model requests', '{request}'),
  'codex.api_request.duration_ms': histogram('Time until a model request was accepted or refused', 'ms', MS),
  'codex.tool.call': counter('Tool calls', '{call}'),
  'codex.tool.call.duration_ms': histogram('Time of a tool call, approval included', 'ms', MS),
  'codex.approval.requested': counter('Approvals that were asked for', '{approval}'),
  'codex.approval.wait_ms': histogram('Time until an approval was decided', 'ms', MS),
  'codex.command': counter('Commands that ended', '{command}'),
  'codex.sandbox.denied': counter('Commands that the sandbox seems to have kept from something', '{command}'),
  'codex.compaction': counter('Compactions', '{compaction}'),
  'gen_ai.client.operation.duration': histogram('Time of a model request', 's', MODEL_SECONDS),
  'gen_ai.client.token.usage': histogram('Tokens of a model request', '{token}', TOKENS),
  'mcp.server.operation.duration': histogram('Time of an MCP request', 's', MCP_SECONDS),
} satisfies Record<string, Metric>;
export type MetricName = keyof typeof METRICS;

export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}

/** What an event adds to the numbers. Attributes are those of few values: no ids, no texts. */
export function metricsOfEvent(event: string, facts: Attributes): MetricUpdate[] {
  const rule = Object.hasOwn(RULES, event) ? RULES[event] : undefined;
  return rule?.(facts) ?? [];
}

type Rule = (facts: Attributes) => MetricUpdate[];

const RULES: Readonly<Record<string, Rule>> = {
  'codex.conversation_starts': facts => [one('codex.thread.started', pick(facts, 'source', 'model'))],
  'codex.turn_end': facts => {
    const attributes = pick(facts, 'status', 'model');
    return [
      one('codex.conversation.turn.count', attributes),
      ...measured('codex.turn.e2e_duration_ms', facts['duration_ms'], attributes),
      ...TOKEN_TYPES.flatMap(([type, key]) =>
        measured('codex.turn.token_usage', facts[key], { ...pick(facts, 'model'), token_type: type }),
      ),
    ];
  },
  'codex.turn_ttft': facts => measured('codex.turn.ttft.duration_ms', facts['duration_ms'], pick(facts, 'model')),
  'codex.api_request': facts => {
    const status = facts['http.response.status_code'];
    const attributes = {
      ...pick(facts, 'model', 'provider_name', 'error.type'),
      status: status === undefined ? 'none' : String(status),
      success: facts['error.type'] === undefined,
    };
    return [
      one('codex.api_request', attributes),
      ...measured('codex.api_request.duration_ms', facts['duration_ms'], attributes),
    ];
  },
  'codex.sse_event': facts => {
    const common = { ...genAi(facts), 'gen_ai.operation.name': 'chat' };
    return [
      ...seconds('gen_ai.client.operation.duration', facts, { ...common, ...pick(facts, 'error.type') }),
      ...measured('gen_ai.client.token.usage', facts['input_token_count'], {
        ...common,
        'gen_ai.token.type': 'input',
      }),
      ...measured('gen_ai.client.token.usage', facts['output_token_count'], {
        ...common,
        'gen_ai.token.type': 'output',
      }),
    ];
  },
  'codex.tool_result': facts => {
    const attributes = { tool: facts['tool_name'], ...pick(facts, 'success', 'tool_origin', 'mcp_server') };
    return [
      one('codex.tool.call', attributes),
      ...measured('codex.tool.call.duration_ms', facts['duration_ms'], attributes),
    ];
  },
  'codex.tool_decision': facts => {
    if (facts['source'] === 'config') return [];
    const attributes = pick(facts, 'decision', 'source', 'approval_kind');
    return [
      one('codex.approval.requested', attributes),
      ...measured('codex.approval.wait_ms', facts['wait_ms'], attributes),
    ];
  },
  'codex.sandbox_outcome': facts => [
    one('codex.command', pick(facts, 'outcome', 'sandboxed')),
    ...(facts['outcome'] === 'denied' ? [one('codex.sandbox.denied', pick(facts, 'policy'))] : []),
  ],
  'codex.compaction': facts => [one('codex.compaction', pick(facts, 'model'))],
  'codex.mcp_request': facts =>
    seconds(
      'mcp.server.operation.duration',
      facts,
      pick(facts, 'mcp.method.name', 'gen_ai.tool.name', 'mcp.protocol.version', 'error.type'),
    ),
};

const TOKEN_TYPES = [
  ['total', 'total_token_count'],
  ['input', 'input_token_count'],
  ['cached_input', 'cached_token_count'],
  ['cache_write_input', 'cache_write_token_count'],
  ['output', 'output_token_count'],
  ['reasoning_output', 'reasoning_token_count'],
] as const;

function one(name: MetricName, attributes: Attributes): MetricUpdate {
  return { name, value: 1, attributes };
}

function measured(name: MetricName, value: Attributes[string], attributes: Attributes): MetricUpdate[] {
  return typeof value === 'number' ? [{ name, value, attributes }] : [];
}

function seconds(name: MetricName, facts: Attributes, attributes: Attributes): MetricUpdate[] {
  const ms = facts['duration_ms'];
  return typeof ms === 'number' ? [{ name, value: ms / 1000, attributes }] : [];
}

function genAi(facts: Attributes): Attributes {
  return { 'gen_ai.provider.name': facts['provider_name'], 'gen_ai.request.model': facts['model'] };
}

function pick(facts: Attributes, ...keys: string[]): Attributes {
  return Object.fromEntries(keys.flatMap(key => (facts[key] === undefined ? [] : [[key, facts[key]]])));
}
