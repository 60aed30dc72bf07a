/** CODEX_API_KEY: the key that the Codex SDK hands over. */
import type { ProviderSettings } from '../../protocol/index.js';
import type { Env } from '../../util/index.js';

/**
 * The environment that a provider's key is read from: CODEX_API_KEY takes the place of OpenAI's own variable, also when
 * both are set. It is no key of any other service.
 */
export function providerEnvironment(env: Env, { id, env_key: variable }: ProviderSettings): Env {
  const key = env['CODEX_API_KEY']?.trim();
  return key && id === 'openai' && variable === 'OPENAI_API_KEY' ? { ...env, OPENAI_API_KEY: key } : env;
}

/** The environment of everything else, commands included. */
export function withoutCodexApiKey(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'CODEX_API_KEY'));
}
