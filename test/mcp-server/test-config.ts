/** Configuration as far as the scripted threads read it. */
import type { Config } from '../../src/config/index.js';
import type { CodexCall, ServeOptions } from '../../src/mcp-server/index.js';

export const SETTINGS: ServeOptions['settings'] = {
  events: 'codex',
  thread_id_text: true,
  approval_timeout_ms: 60_000,
};

type Read = 'home' | 'cwd' | 'model' | 'approval_policy' | 'sandbox_policy' | 'model_reasoning_effort';

export function configFor(call: CodexCall): Config {
  if (call.cwd === '/missing') throw new Error('cwd: /missing does not exist.');
  const config: Pick<Config, Read> & { provider: { id: string } } = {
    home: '/home/of/agent',
    cwd: call.cwd ?? '/w',
    model: call.model ?? 'scripted',
    provider: { id: 'scripted' },
    approval_policy: call.approvalPolicy ?? 'on-request',
    sandbox_policy: { type: call.sandbox === 'danger-full-access' ? 'danger-full-access' : 'read-only' },
    model_reasoning_effort: null,
  };
  return config as Config;
}
