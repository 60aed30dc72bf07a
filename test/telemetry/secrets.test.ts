/** Nothing secret leaves: keys lie everywhere, and all that the process sent or wrote for others is searched. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { callsTool, createWorld, says, startSession } from './built-server.js';
import { startReceiver } from './otlp-receiver.js';

/** Where a key is put -> the key. None is like another, so that a find says where it came from. */
const KEYS = {
  envKey: 'sk-proj-Aa11Bb22Cc33Dd44Ee55Ff66',
  envSecret: 'correct-horse-battery-staple',
  providerHeader: 'header-value-q8w7e6r5t4',
  bearer: 'bearer-value-z1x2c3v4b5',
  serverEnv: 'server-env-value-m9n8b7',
  collectorHeader: 'collector-key-p0o9i8u7',
  collectorEnv: 'collector-env-key-l1k2j3',
  providerError: 'sk-ant-api03-Gg77Hh88Ii99Jj00Kk11',
  commandWord: 'ghp_0123456789abcdefABCDEF0123456789',
  commandOutput: 'AKIAIOSFODNN7EXAMPLE',
  toolName: 'xoxb-123456789012-abcdefghijkl',
  toolArgument: 'glpat-aBcDeFgHiJkLmNoPqRsT',
  callId: 'hf_AbCdEfGhIjKlMnOpQrStUvWx',
  prompt: 'sk-live_4eC39HqLyjWDarjtT1zdp7dc',
  requestId: 'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  traceState: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
};

it('no key reaches a collector, the log on stderr or a log file, at the most talkative settings', async () => {
  const collector = await startReceiver({ protocol: 'http' });
  onTestFinished(() => collector.close());
  const exporter = `{ otlp-http = { endpoint = "${collector.url}", protocol = "json", headers = { "x-key" = "${KEYS.collectorHeader}" } } }`;
  const world = await createWorld(
    `log_dir = "logs"
[otel]
exporter = ${exporter}
trace_exporter = ${exporter}
metrics_exporter = ${exporter}
log_user_prompt = true
[mcp_servers.broken]
command = "/bin/false"
env = { API_TOKEN = "${KEYS.serverEnv}" }
`,
    `request_max_retries = 1
stream_max_retries = 1
experimental_bearer_token = "${KEYS.bearer}"
http_headers = { "x-auth-token" = "${KEYS.providerHeader}" }
`,
  );
  world.model.reply(
    { status: 500, body: { error: { message: `key ${KEYS.providerError} of ${KEYS.bearer} failed` } } },
    callsTool('exec_command', {
      cmd: `curl() { echo ${KEYS.commandOutput}; }; curl -H 'X: ${KEYS.commandWord}'; echo $DEPLOY_SECRET; exit 3`,
    }),
    callsTool(KEYS.toolName, { password: KEYS.toolArgument }, KEYS.callId),
    { status: 401, body: { error: { message: `Incorrect API key provided: ${KEYS.providerError}` } } },
    says('never'),
  );
  const session = await startSession(world, {
    env: {
      OPENAI_API_KEY: KEYS.envKey,
      DEPLOY_SECRET: KEYS.envSecret,
      INTERPRETER_LOG: 'trace',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${KEYS.collectorEnv}`,
    },
  });
  const result = await session.call(
    {
      prompt: `deploy with ${KEYS.prompt} and ${KEYS.envSecret}, the harmless rest stays`,
      sandbox: 'danger-full-access',
      'approval-policy': 'never',
    },
    { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: `a=${KEYS.traceState}` },
  );
  expect(result.isError).toBe(true);
  await session.end();

  // It did tell: the prompt that was allowed, the failure by its kind, the tools by their names.
  const sent = collector.bytes();
  expect(sent).toContain('the harmless rest stays');
  expect(collector.logs.find(log => log.event === 'codex.turn_end')?.attributes).toMatchObject({ status: 'failed' });
  expect(collector.spans.map(span => span.name)).toContain('execute_tool unknown');
  expect(collector.requests[0]?.headers['x-key']).toBe(KEYS.collectorHeader);
  const files = readdirSync(join(world.home, 'logs')).map(name => readFileSync(join(world.home, 'logs', name), 'utf8'));
  expect(files.join('')).toContain('codex.tool_result');
  expect(session.stderr()).toContain('codex.tool_result');

  const places = { sent, stderr: session.stderr(), files: files.join('') };
  const found = Object.entries(places).flatMap(([place, text]) =>
    Object.entries(KEYS).flatMap(([key, value]) => (text.includes(value) ? [`${key} in ${place}`] : [])),
  );
  // A trace state is the client's own and goes to its own trace only.
  expect(found.filter(one => one !== 'traceState in sent')).toEqual([]);
});

it('a prompt, what commands print and what the model says stay here unless a prompt is allowed', async () => {
  const collector = await startReceiver({ protocol: 'http' });
  onTestFinished(() => collector.close());
  const exporter = `{ otlp-http = { endpoint = "${collector.url}", protocol = "json" } }`;
  const world = await createWorld(
    `[otel]\nexporter = ${exporter}\ntrace_exporter = ${exporter}\nmetrics_exporter = ${exporter}`,
  );
  world.model.reply(callsTool('exec_command', { cmd: 'echo a-word-of-the-command; echo $((40 + 2))-output' }), {
    status: 400,
    body: { error: { message: 'You said: a-word-of-the-prompt' } },
  });
  const session = await startSession(world);
  await session.call({ prompt: 'a-word-of-the-prompt', sandbox: 'danger-full-access', 'approval-policy': 'never' });
  await session.end();
  expect(collector.logs.find(log => log.event === 'codex.user_prompt')?.attributes['prompt']).toBe('[REDACTED]');
  expect(collector.bytes()).not.toMatch(/a-word-of-the-|42-output/);
});
