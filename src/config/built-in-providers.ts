/** The providers that need no configuration but a key: where they are, what they speak, which model they start with. */
import type { WireApi } from '../protocol/index.js';

export type BuiltInProvider = {
  readonly name: string;
  /** Null: the person has to say where (`[model_providers.<id>] base_url`). */
  readonly base_url: string | null;
  readonly wire_api: WireApi;
  /** Null: no key is needed. */
  readonly env_key: string | null;
  /** Used when no `model` is set; null where ids depend on what is deployed. */
  readonly default_model: string | null;
  /** Its variable is often set for other programs, so that it says nothing about a wish to use this service. */
  readonly key_of_others?: true;
  readonly env_http_headers?: Readonly<Record<string, string>>;
};

const chat = (name: string, base_url: string, env_key: string, default_model: string | null): BuiltInProvider => ({
  name,
  base_url,
  wire_api: 'chat',
  env_key,
  default_model,
});

/** By id. Of several that share a variable the first one is chosen when that variable is all there is. */
export const BUILT_IN_PROVIDERS: Readonly<Record<string, BuiltInProvider>> = {
  openai: {
    name: 'OpenAI',
    base_url: 'https://api.openai.com/v1',
    wire_api: 'responses',
    env_key: 'OPENAI_API_KEY',
    default_model: 'gpt-5.6-terra',
    env_http_headers: { 'OpenAI-Organization': 'OPENAI_ORGANIZATION', 'OpenAI-Project': 'OPENAI_PROJECT' },
  },
  anthropic: {
    name: 'Anthropic',
    base_url: 'https://api.anthropic.com',
    wire_api: 'messages',
    env_key: 'ANTHROPIC_API_KEY',
    default_model: 'claude-sonnet-5',
  },
  openrouter: chat('OpenRouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'anthropic/claude-sonnet-5'),
  moonshotai: chat('Moonshot AI', 'https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY', 'kimi-k3'),
  'moonshotai-cn': chat('Moonshot AI (China)', 'https://api.moonshot.cn/v1', 'MOONSHOT_API_KEY', 'kimi-k3'),
  'kimi-for-coding': chat('Kimi for Coding', 'https://api.kimi.com/coding/v1', 'KIMI_API_KEY', 'k3'),
  zai: chat('Z.AI', 'https://api.z.ai/api/paas/v4', 'ZAI_API_KEY', 'glm-5.2'),
  'zai-coding-plan': chat('Z.AI Coding Plan', 'https://api.z.ai/api/coding/paas/v4', 'ZAI_API_KEY', 'glm-5.2'),
  zhipuai: chat('Zhipu AI', 'https://open.bigmodel.cn/api/paas/v4', 'ZHIPU_API_KEY', 'glm-5.2'),
  'zhipuai-coding-plan': chat(
    'Zhipu AI Coding Plan',
    'https://open.bigmodel.cn/api/coding/paas/v4',
    'ZHIPU_API_KEY',
    'glm-5.2',
  ),
  deepseek: chat('DeepSeek', 'https://api.deepseek.com', 'DEEPSEEK_API_KEY', 'deepseek-v4-pro'),
  alibaba: chat(
    'Alibaba Cloud',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'DASHSCOPE_API_KEY',
    'qwen3.7-max',
  ),
  'alibaba-cn': chat(
    'Alibaba Cloud (China)',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'DASHSCOPE_API_KEY',
    'qwen3.7-max',
  ),
  'alibaba-coding-plan': chat(
    'Alibaba Coding Plan',
    'https://coding-intl.dashscope.aliyuncs.com/v1',
    'ALIBABA_CODING_PLAN_API_KEY',
    'qwen3-coder-next',
  ),
  'alibaba-coding-plan-cn': chat(
    'Alibaba Coding Plan (China)',
    'https://coding.dashscope.aliyuncs.com/v1',
    'ALIBABA_CODING_PLAN_API_KEY',
    'qwen3-coder-next',
  ),
  google: chat(
    'Google',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'GEMINI_API_KEY',
    'gemini-3.6-flash',
  ),
  groq: chat('Groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY', 'openai/gpt-oss-120b'),
  mistral: chat('Mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY', 'devstral-2512'),
  xai: { ...chat('xAI', 'https://api.x.ai/v1', 'XAI_API_KEY', 'grok-4.5'), wire_api: 'responses' },
  'fireworks-ai': chat(
    'Fireworks AI',
    'https://api.fireworks.ai/inference/v1',
    'FIREWORKS_API_KEY',
    'accounts/fireworks/models/gpt-oss-120b',
  ),
  together: chat('Together AI', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY', 'openai/gpt-oss-120b'),
  cerebras: chat('Cerebras', 'https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY', 'gpt-oss-120b'),
  deepinfra: chat('DeepInfra', 'https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY', 'openai/gpt-oss-120b'),
  minimax: {
    ...chat('MiniMax', 'https://api.minimax.io/anthropic', 'MINIMAX_API_KEY', 'MiniMax-M3'),
    wire_api: 'messages',
  },
  nvidia: chat('NVIDIA', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_API_KEY', 'openai/gpt-oss-120b'),
  siliconflow: chat('SiliconFlow', 'https://api.siliconflow.com/v1', 'SILICONFLOW_API_KEY', null),
  'siliconflow-cn': chat('SiliconFlow (China)', 'https://api.siliconflow.cn/v1', 'SILICONFLOW_CN_API_KEY', null),
  modelscope: chat('ModelScope', 'https://api-inference.modelscope.cn/v1', 'MODELSCOPE_API_KEY', null),
  'novita-ai': chat('Novita AI', 'https://api.novita.ai/openai', 'NOVITA_API_KEY', null),
  'ollama-cloud': chat('Ollama Cloud', 'https://ollama.com/v1', 'OLLAMA_API_KEY', 'gpt-oss:120b'),
  'github-models': {
    ...chat('GitHub Models', 'https://models.github.ai/inference', 'GITHUB_TOKEN', null),
    key_of_others: true,
  },
  huggingface: {
    ...chat('Hugging Face', 'https://router.huggingface.co/v1', 'HF_TOKEN', 'openai/gpt-oss-120b'),
    key_of_others: true,
  },
  'amazon-bedrock': {
    name: 'Amazon Bedrock',
    base_url: 'https://bedrock-mantle.{region}.api.aws/openai/v1',
    wire_api: 'responses',
    env_key: 'AWS_BEARER_TOKEN_BEDROCK',
    default_model: 'openai.gpt-5.6-sol',
  },
  azure: {
    name: 'Azure OpenAI',
    base_url: null,
    wire_api: 'responses',
    env_key: null,
    default_model: null,
    env_http_headers: { 'api-key': 'AZURE_OPENAI_API_KEY' },
  },
  ollama: {
    name: 'Ollama',
    base_url: 'http://localhost:11434/v1',
    wire_api: 'responses',
    env_key: null,
    default_model: 'gpt-oss:20b',
  },
  lmstudio: {
    name: 'LM Studio',
    base_url: 'http://localhost:1234/v1',
    wire_api: 'responses',
    env_key: null,
    default_model: 'openai/gpt-oss-20b',
  },
  vllm: { name: 'vLLM', base_url: 'http://localhost:8000/v1', wire_api: 'chat', env_key: null, default_model: null },
  'llama.cpp': {
    name: 'llama.cpp',
    base_url: 'http://127.0.0.1:8080/v1',
    wire_api: 'chat',
    env_key: null,
    default_model: null,
  },
};

/** The default model of a built-in provider, or null. */
export function defaultModelOf(providerId: string): string | null {
  return builtInProvider(providerId)?.default_model ?? null;
}

/** Own entries only: ids come from people. */
export function builtInProvider(id: string): BuiltInProvider | undefined {
  return Object.hasOwn(BUILT_IN_PROVIDERS, id) ? BUILT_IN_PROVIDERS[id] : undefined;
}
