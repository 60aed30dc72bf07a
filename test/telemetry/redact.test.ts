import { describe, expect, it } from 'vitest';
import { createRedactor, isSecretName } from '../../src/telemetry/index.js';

const redact = createRedactor({
  env: {
    MY_API_KEY: 'plain-looking-value',
    DB_PASSWORD: 'p@ss.w0rd+(x)',
    SHORT_TOKEN: 'abc',
    PORT_KEY: '12345678',
    HOME: '/home/somebody',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-honeycomb=hny%20value1,other=second-value',
  },
  secrets: ['from-the-configuration'],
});

describe('a redactor takes out', () => {
  it.each([
    ['a variable that is named like a secret', 'got plain-looking-value back', 'got [REDACTED] back'],
    ['a value with signs of its own', 'x=p@ss.w0rd+(x)!', 'x=[REDACTED]!'],
    ['a value of the configuration', '<from-the-configuration>', '<[REDACTED]>'],
    ['the values of a list of headers', 'hny value1 second-value', '[REDACTED] [REDACTED]'],
    [
      'OpenAI-like keys',
      'Incorrect API key provided: sk-proj-abcDEF1234567890xyz.',
      'Incorrect API key provided: [REDACTED].',
    ],
    ['GitHub tokens', 'ghp_0123456789abcdefABCD', '[REDACTED]'],
    ['AWS key ids', 'id AKIAIOSFODNN7EXAMPLE end', 'id [REDACTED] end'],
    ['JSON web tokens', 'a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln b', 'a [REDACTED] b'],
    ['bearer headers', 'Authorization: Bearer abc.def-123456', 'Authorization: [REDACTED] [REDACTED]'],
    ['passwords in URLs', 'postgres://user:hunter2hunter@db:5432/x', 'postgres://[REDACTED]@db:5432/x'],
    ['keys in queries', 'https://x.test/a?key=abcdef&b=1', 'https://x.test/a?key=[REDACTED]&b=1'],
    ['JSON members', '{"client_secret":"aa-bb-cc","n":1}', '{"client_secret":"[REDACTED]","n":1}'],
    ['JSON inside JSON', '"{\\"api_key\\":\\"aa-bb-cc\\"}"', '"{\\"api_key\\":\\"[REDACTED]\\"}"'],
    ['assignments', 'DB_PASSWORD=hunter2x make', 'DB_PASSWORD=[REDACTED] make'],
    [
      'private keys',
      'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb',
      'a\n[REDACTED]\nb',
    ],
  ])('%s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    'total_tokens: 123456, "input_tokens":12',
    'max_output_tokens = 100000',
    'env_key = "env:OPENAI"',
    'token_type=total',
    'abc 12345678 /home/somebody',
    'sk-learn and scikit',
    '{"secret":null,"password":true}',
  ])('nothing of %s', text => {
    expect(redact(text)).toBe(text);
  });
});

it.each([
  ['OPENAI_API_KEY', true],
  ['x-auth-token', true],
  ['Authorization', true],
  ['DB_PASSWORD', true],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', true],
  ['PATH', false],
  ['AWS_WEB_IDENTITY_TOKEN_FILE', false],
  ['max_tokens', false],
])('the name %s: secret is %s', (name, expected) => {
  expect(isSecretName(name)).toBe(expected);
});
