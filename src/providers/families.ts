/** Model families: which rules apply to a model, told by its name alone, so that new versions are known at once. */

export type Family =
  | 'gpt'
  | 'gpt-oss'
  | 'claude'
  | 'kimi'
  | 'glm'
  | 'deepseek'
  | 'qwen'
  | 'gemini'
  | 'grok'
  | 'mistral'
  | 'minimax'
  | 'other';

const PREFIXES: readonly (readonly [RegExp, Family])[] = [
  [/^gpt-oss/, 'gpt-oss'],
  [/^(?:gpt-|chatgpt-|codex-|o[1-9](?:-|$))/, 'gpt'],
  [/^claude/, 'claude'],
  [/^(?:kimi|moonshot|k[2-9](?:$|[-p.]))/, 'kimi'],
  [/^glm/, 'glm'],
  [/^deepseek/, 'deepseek'],
  [/^(?:qwen|qwq|qvq)/, 'qwen'],
  [/^gemini/, 'gemini'],
  [/^grok/, 'grok'],
  [/^(?:mistral|ministral|magistral|devstral|codestral|pixtral|open-mi)/, 'mistral'],
  [/^minimax/, 'minimax'],
];

/** The family of a model id; a vendor in front (`moonshotai/kimi-k3`, `accounts/fireworks/models/…`) is ignored. */
export function familyOf(modelId: string): Family {
  const name = bareName(modelId);
  return PREFIXES.find(([prefix]) => prefix.test(name))?.[1] ?? 'other';
}

/** The last part of a model id, lower case, in the spelling of the catalogue. */
export function bareName(modelId: string): string {
  const last = (modelId.split('/').at(-1) ?? modelId).toLowerCase();
  // Bedrock: openai.gpt-5.6-sol, us.anthropic.claude-opus-4-8.
  const name = last.replace(
    /^(?:[a-z]{2,6}\.)?(?:openai|anthropic|deepseek|moonshotai|zai|qwen|mistral|minimax|google)\./,
    '',
  );
  // OpenRouter writes claude-opus-4.8, Anthropic claude-opus-4-8.
  return name.startsWith('claude') ? name.replaceAll('.', '-') : name;
}

/** The version of a Claude model as a number: 4.5 for claude-sonnet-4-5-20250929; null when the name has none. */
export function claudeVersion(modelId: string): number | null {
  const match = /^claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2})(?!\d))?/.exec(bareName(modelId));
  return match ? Number(match[1]) + Number(match[2] ?? 0) / 10 : null;
}
