/** `[mcp_servers.<name>]` */
import * as z from 'zod';
import { flag, map, milliseconds, name, oneOf, path, seconds, table, textMap, texts, value } from './keys.js';

const MODES = ['auto', 'prompt', 'writes', 'approve'] as const;

export const mcpServerKeys = table('', {
  command: name('Program of a server on stdio.'),
  args: texts('Its arguments.', '[]'),
  env: textMap('Variables to set for it; `env:NAME` takes the value from the own environment.'),
  env_vars: value('Names of variables passed on to it.', () =>
    z.array(z.union([z.string().min(1), z.strictObject({ name: z.string().min(1), source: z.string().optional() })])),
  ),
  cwd: path('Its working directory.'),
  url: name('URL of a server over HTTP.'),
  bearer_token_env_var: name('Environment variable with its bearer token.'),
  http_headers: textMap('Headers sent to it; `env:NAME` as in `env`.'),
  env_http_headers: textMap('Header = environment variable with its value.'),
  scopes: texts('OAuth scopes to ask for.', '[]'),
  oauth_resource: name('OAuth resource to name.'),
  enabled: flag('False: it is not started.', true),
  required: flag('Whether a call fails when it can not be started.', false),
  startup_timeout_sec: seconds('Seconds it may take to start.', '30'),
  startup_timeout_ms: milliseconds('The same in milliseconds.'),
  tool_timeout_sec: seconds('Seconds without a sign of life after which a tool call is given up.', '300'),
  enabled_tools: texts('Only these tools are shown.', 'all'),
  disabled_tools: texts('These are not.', '[]'),
  default_tools_approval_mode: oneOf(
    'When its tools need an approval: `auto` by their annotations, `writes` unless read-only, `prompt` always, `approve` never.',
    MODES,
    'auto',
  ),
  tools: map('Single tools.', 'tool', table('', { approval_mode: oneOf('As above, for this tool.', MODES) })),
  supports_parallel_tool_calls: flag('Whether its tools may run at the same time.', false),
});
