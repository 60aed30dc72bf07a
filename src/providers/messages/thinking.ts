/** How much a model of the Messages API is told to think, in the form its family takes. */
import type { ModelRequest, ProviderSettings } from '../../protocol/index.js';
import { bareName, claudeVersion, familyOf } from '../families.js';
import { sentEffort } from '../reasoning.js';
import type { Message } from './messages.js';

export type ThinkingOptions = {
  readonly request: ModelRequest;
  readonly settings: ProviderSettings;
  readonly messages: readonly Message[];
  readonly max_tokens: number;
  readonly lessons: ReadonlySet<string>;
};

export type ThinkingFields = { thinking?: Record<string, unknown>; effort?: string };

/** Claude from 4.6 on decides itself, by effort; from 3.7 to 4.5 it has a budget of tokens; others differ. */
export function thinkingFields(options: ThinkingOptions): ThinkingFields {
  const { request } = options;
  const effort = sentEffort(request);
  switch (familyOf(request.model.id)) {
    case 'claude': {
      const version = claudeVersion(request.model.id);
      if (version !== null && version < 3.7) return {};
      return version === null || version >= 4.6 ? adaptive(options, effort, version) : budget(options, effort);
    }
    case 'deepseek':
      if (effort === null) return {};
      return effort === 'none' ? { thinking: { type: 'disabled' } } : { thinking: { type: 'enabled' }, effort };
    case 'minimax':
      // Only M3 can be told; earlier ones always think.
      if (effort === null || !bareName(request.model.id).startsWith('minimax-m3')) return {};
      return { thinking: { type: effort === 'none' ? 'disabled' : 'adaptive' } };
    case 'glm':
      return effort === 'none' ? { thinking: { type: 'disabled' } } : {};
    case 'gpt':
    case 'gpt-oss':
    case 'kimi':
    case 'qwen':
    case 'gemini':
    case 'grok':
    case 'mistral':
    case 'other':
      return {};
  }
}

const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
  ultra: 'max',
};

function adaptive({ request, lessons }: ThinkingOptions, asked: string | null, version: number | null): ThinkingFields {
  if (asked === 'none') return { thinking: { type: 'disabled' } };
  const effort = asked === null ? undefined : EFFORTS[asked];
  // From 4.7 on the thoughts are hidden unless they are asked for.
  const hidden = request.reasoning.summary === 'none' || lessons.has('without-display') || (version ?? 9) < 4.7;
  const thinking = { type: 'adaptive', ...(hidden ? {} : { display: 'summarized' }) };
  return { thinking, ...(effort === undefined ? {} : { effort }) };
}

const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 24_576,
  xhigh: 31_999,
  max: 31_999,
};

function budget({ messages, max_tokens }: ThinkingOptions, effort: string | null): ThinkingFields {
  const tokens = Math.min(BUDGETS[effort ?? ''] ?? 0, max_tokens - 1024);
  if (tokens < 1024 || inThoughtlessStep(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: tokens } };
}

/**
 * A step with tool calls must begin with its thoughts while thinking is on; one that another model began has none, so
 * thinking rests until its calls are answered.
 */
function inThoughtlessStep(messages: readonly Message[]): boolean {
  const results = messages.at(-1)?.content.some(block => block.type === 'tool_result') ?? false;
  const first = messages.findLast(({ role }) => role === 'assistant')?.content[0]?.type;
  return results && first !== 'thinking' && first !== 'redacted_thinking';
}
