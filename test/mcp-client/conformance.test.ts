/**
 * Client scenarios of the protocol's conformance suite. The usual run takes some of each kind; all of them are run with
 * CONFORMANCE=all (the table in docs/mcp.md comes from that).
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../..');
const suite = path.join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const hook = path.join(import.meta.dirname, '../fixtures/glob-for-node-20.mjs');
const LIMIT_MS = 90_000;

const USUAL = [
  'initialize',
  'tools_call@2026-07-28',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  'request-metadata',
  'http-custom-headers',
  'sep-2322-client-request-state',
  'auth/scope-step-up@2026-07-28',
];
const OTHERS = [
  'tools_call',
  'json-schema-2020-12-preservation',
  'json-schema-2020-12-preservation@2026-07-28',
  'auth/scope-step-up',
  'auth/basic-cimd',
  'http-standard-headers',
  'http-invalid-tool-headers',
  'json-schema-ref-no-deref',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/authorization-server-migration',
  'auth/iss-supported',
  'auth/iss-not-advertised',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
];
const scenarios = process.env['CONFORMANCE'] === 'all' ? [...USUAL, ...OTHERS] : USUAL;

// Beside the packages that it imports. Bundled, because it is started often.
const folder = path.join(root, 'node_modules', `.conformance-${process.pid}`);
const client = path.join(folder, 'client.mjs');

beforeAll(async () => {
  const entry = path.join(import.meta.dirname, 'conformance-client.program.ts');
  await build({
    entryPoints: [entry],
    outfile: client,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('conformance', () => {
  test.for(scenarios)('%s', { timeout: LIMIT_MS }, async name => {
    const [scenario = '', version] = name.split('@');
    const output = await run(['--scenario', scenario, ...(version === undefined ? [] : ['--spec-version', version])]);
    expect(output).toContain('OVERALL: PASSED');
  });
});

function run(words: readonly string[]): Promise<string> {
  const command = `${process.execPath} ${client}`;
  return new Promise(resolve => {
    execFile(
      process.execPath,
      ['--import', hook, suite, 'client', '--timeout', String(LIMIT_MS), '--command', command, ...words],
      { cwd: root, timeout: LIMIT_MS },
      (_, stdout, stderr) => resolve(`${stdout}\n${stderr}`),
    );
  });
}
