/** `[model_providers.<id>]` */
import { count, milliseconds, name, oneOf, path, table, text, textMap, texts } from './keys.js';

export const providerKeys = table('', {
  name: text('Name to show.', 'the id'),
  base_url: name(
    'Base of the URLs; `/responses`, `/chat/completions` or `/v1/messages` is appended. Needed unless the id is a built-in one.',
  ),
  wire_api: oneOf(
    'The protocol spoken: OpenAI Responses, OpenAI Chat Completions or Anthropic Messages.',
    ['responses', 'chat', 'messages'],
    'responses',
  ),
  env_key: name('Environment variable that holds the API key.'),
  env_key_instructions: text('What to do when that variable is missing; shown with the error.'),
  experimental_bearer_token: name('The API key itself. Prefer `env_key` or `interpreter login`.'),
  auth: table('Command that prints a bearer token; not together with `env_key` or `experimental_bearer_token`.', {
    command: name('Program.'),
    args: texts('Its arguments.', '[]'),
    cwd: path('Its working directory.'),
    timeout_ms: milliseconds('Milliseconds it may take.', '5000'),
    refresh_interval_ms: milliseconds('Milliseconds after which it is run again; also after a 401.', '300000'),
  }),
  http_headers: textMap('Headers sent with each request.'),
  env_http_headers: textMap('Header = environment variable with its value; left out when that is unset or blank.'),
  query_params: textMap('Parameters appended to each URL.'),
  request_max_retries: count('How often a failed request is sent again, at most 100.', '4'),
  stream_max_retries: count('How often a broken answer is asked for again, at most 100.', '5'),
  stream_idle_timeout_ms: milliseconds('Milliseconds without a byte after which an answer counts as broken.', '300000'),
  aws: table('amazon-bedrock only.', {
    region: name('AWS region.', '`AWS_REGION` or `AWS_DEFAULT_REGION`'),
  }),
});
