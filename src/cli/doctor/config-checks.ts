/** Checks of what is configured: the files themselves, the provider and its key, the model. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/index.js';
import type { ModelInfo, Provider } from '../../protocol/index.js';
import { createCredentials, SettingsError } from '../../providers/index.js';
import { type Env, messageOf } from '../../util/index.js';
import { type Check, ok, problem } from './check.js';

const ONLINE_MS = 30_000;

export function checkConfig(config: Config): Check {
  const file = path.join(config.home, 'config.toml');
  if (config.warnings.length === 0)
    return ok('config', existsSync(file) ? file : `${file} does not exist: defaults apply`);
  return problem(
    'config',
    'warn',
    config.warnings.join('\n'),
    'See `interpreter config show`, which names the places.',
  );
}

export type KeySources = { readonly env: Env; readonly storedKey: (provider: string) => Promise<string | null> };

/** Looks for a key without sending anything. A command that gives tokens is not run. */
export async function checkCredentials({ provider }: Config, sources: KeySources): Promise<Check> {
  const where = `${provider.id} at ${provider.base_url}`;
  if (provider.auth)
    return ok('credentials', `${where}, by the command ${provider.auth.command} (tried with --online)`);
  try {
    const signal = AbortSignal.timeout(ONLINE_MS);
    const { secrets } = await createCredentials(provider, sources).headers(signal);
    return ok('credentials', `${where}, ${secrets.length > 0 ? 'a key is present' : 'which needs no key'}`);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const fix = `Set that variable, or run: interpreter login ${provider.id}`;
    return problem('credentials', 'fail', error.message, fix);
  }
}

/** `window`: what the configuration says about it. */
export function checkModel(model: ModelInfo, window: number | null): Check {
  if (model.known) return ok('model', `${model.id}, ${model.context_window} tokens`);
  if (window !== null) return ok('model', `${model.id}, ${window} tokens as configured, otherwise cautious abilities`);
  return problem(
    'model',
    'warn',
    `nothing is known about ${model.id}: ${model.context_window} tokens and cautious abilities are assumed`,
    'Set model_context_window if that is wrong, or model_catalog_json.',
  );
}

/** Asks the model for one word: the key, the address, the model and the wire are right when it answers. */
export async function checkProvider(config: Config, model: ModelInfo, provider: Provider): Promise<Check> {
  const started = performance.now();
  const request = {
    model,
    instructions: 'You are tested. Answer with one word.',
    input: [
      { type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text: 'Say ok.' }] },
    ],
    tools: [],
    parallel_tool_calls: false,
    reasoning: { effort: null, summary: null },
    verbosity: null,
    service_tier: config.service_tier,
    output_schema: null,
    thread_id: 'doctor',
    turn_id: 'doctor',
    window: 0,
    headers: {},
  };
  try {
    for await (const event of provider.stream(request, AbortSignal.timeout(ONLINE_MS))) {
      if (event.type === 'failed') {
        const late = performance.now() - started >= ONLINE_MS;
        const what = late ? `no answer within ${ONLINE_MS / 1000} seconds` : event.error.message;
        return problem('provider', 'fail', what, advice(event.error.kind, config));
      }
    }
  } catch (error) {
    return problem('provider', 'fail', messageOf(error), advice('other', config));
  }
  return ok('provider', `${config.provider.id} answered in ${Math.round(performance.now() - started)} ms`);
}

function advice(kind: string, { provider, model }: Config): string {
  if (kind === 'unauthorized') return `Check the key: interpreter login ${provider.id} stores a new one.`;
  if (kind === 'connection_failed')
    return `Check the network, proxies (HTTPS_PROXY) and base_url (${provider.base_url}).`;
  return `Check the model (${model}), wire_api (${provider.wire_api}) and base_url (${provider.base_url}).`;
}
