/** What each chat-completions service wants differently, told by host and model family. The table of docs/providers.md. */
import type { ModelInfo, ProviderSettings } from '../../protocol/index.js';
import { isAzure } from '../credentials.js';
import { hostIs } from '../endpoint.js';
import { bareName, familyOf } from '../families.js';
import type { SchemaDialect } from '../tool-schema.js';

/** How the wish for more or less reasoning is written. */
export type ReasoningStyle = 'effort' | 'kimi' | 'glm' | 'deepseek' | 'qwen' | 'openrouter' | 'minimax';

export type ChatQuirks = {
  /** Sends an output limit in this field, at most `cap` tokens; null: the service's own default is good. */
  readonly maxTokens: { readonly field: 'max_tokens' | 'max_completion_tokens'; readonly cap: number } | null;
  /** `stream_options.include_usage`. */
  readonly streamOptions: boolean;
  /** The fields `store`, `verbosity` and `service_tier` of OpenAI's own API. */
  readonly openaiFields: boolean;
  readonly promptCacheKey: boolean;
  /** `parallel_tool_calls: false` is understood. */
  readonly parallelField: boolean;
  /** Further fields of every request. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly reasoning: ReasoningStyle;
  /** Reasoning that was received goes back. */
  readonly replayReasoning: boolean;
  /** `reasoning_content: ""` on earlier calls that came without reasoning. */
  readonly emptyReasoning: boolean;
  /** Ids of calls must be nine letters or digits. */
  readonly shortIds: boolean;
  readonly schema: SchemaDialect;
  /** How an output schema is enforced while tools are offered; without tools always `json_schema` or by words. */
  readonly outputSchema: 'json_schema' | 'words';
  /** Whether `json_schema` exists at all. */
  readonly jsonSchema: boolean;
  /** A user message may not follow a tool result directly. */
  readonly answerAfterTool: boolean;
  /** The first call of each step carries a signature, or stands in for one. */
  readonly thoughtSignatures: boolean;
};

/** For services nobody described: the common core that vLLM, llama.cpp, LM Studio, Ollama and gateways share. */
const COMMON: ChatQuirks = {
  maxTokens: null,
  streamOptions: true,
  openaiFields: false,
  promptCacheKey: false,
  parallelField: true,
  extra: {},
  reasoning: 'effort',
  replayReasoning: true,
  emptyReasoning: false,
  shortIds: false,
  schema: 'plain',
  // vLLM, Ollama and llama.cpp force the whole answer into the schema: the model could not call a tool any more.
  outputSchema: 'words',
  jsonSchema: true,
  answerAfterTool: false,
  thoughtSignatures: false,
};

type Rule = readonly [
  applies: (settings: ProviderSettings, model: ModelInfo) => boolean,
  quirks: (model: ModelInfo) => Partial<ChatQuirks>,
];

const host =
  (...domains: string[]) =>
  (settings: ProviderSettings) =>
    hostIs(settings, ...domains);

const RULES: readonly Rule[] = [
  [
    settings => hostIs(settings, 'openai.com') || isAzure(settings),
    () => ({ openaiFields: true, promptCacheKey: true, outputSchema: 'json_schema' }),
  ],
  [
    host('moonshot.ai', 'moonshot.cn', 'kimi.com'),
    () => ({
      maxTokens: { field: 'max_completion_tokens', cap: 65_536 },
      promptCacheKey: true,
      reasoning: 'kimi',
      emptyReasoning: true,
      schema: 'moonshot',
    }),
  ],
  [
    host('z.ai', 'bigmodel.cn'),
    () => ({
      maxTokens: { field: 'max_tokens', cap: 65_536 },
      // Usage comes without being asked for; one of their gateways refuses the question.
      streamOptions: false,
      parallelField: false,
      // Without it the arguments of a call arrive as one late piece, after a silence.
      extra: { tool_stream: true },
      reasoning: 'glm',
      jsonSchema: false,
    }),
  ],
  [
    host('deepseek.com'),
    () => ({
      maxTokens: { field: 'max_tokens', cap: 65_536 },
      parallelField: false,
      reasoning: 'deepseek',
      emptyReasoning: true,
      jsonSchema: false,
    }),
  ],
  [host('aliyuncs.com'), () => ({ reasoning: 'qwen', jsonSchema: false })],
  [host('generativelanguage.googleapis.com'), () => ({ parallelField: false })],
  [host('groq.com'), () => ({ replayReasoning: false, jsonSchema: false, parallelField: false })],
  [
    host('mistral.ai'),
    () => ({ shortIds: true, answerAfterTool: true, streamOptions: false, outputSchema: 'json_schema' }),
  ],
  [host('openrouter.ai'), () => ({ reasoning: 'openrouter', outputSchema: 'json_schema' })],
  [host('x.ai'), () => ({ replayReasoning: false, outputSchema: 'json_schema' })],
  [
    host('minimax.io', 'minimaxi.com'),
    () => ({
      maxTokens: { field: 'max_completion_tokens', cap: 65_536 },
      extra: { reasoning_split: true },
      reasoning: 'minimax',
      parallelField: false,
      jsonSchema: false,
    }),
  ],
  // By family, whoever serves the model.
  [
    (_settings, model) => familyOf(model.id) === 'gemini',
    model => ({ schema: 'gemini', thoughtSignatures: /^gemini-[3-9]/.test(bareName(model.id)) }),
  ],
];

export function chatQuirks(settings: ProviderSettings, model: ModelInfo): ChatQuirks {
  return RULES.reduce<ChatQuirks>(
    (quirks, [applies, change]) => (applies(settings, model) ? { ...quirks, ...change(model) } : quirks),
    COMMON,
  );
}
