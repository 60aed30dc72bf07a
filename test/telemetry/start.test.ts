/** Which destinations are used, and how our tracer speaks to them. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OtelExporter, OtelSettings } from '../../src/protocol/index.js';
import { createRedactor, startTelemetry, type Telemetry } from '../../src/telemetry/index.js';
import { type Receiver, startReceiver } from './otlp-receiver.js';

const NONE: OtelExporter = { type: 'none' };
const SETTINGS: OtelSettings = {
  environment: 'dev',
  exporter: NONE,
  trace_exporter: NONE,
  metrics_exporter: NONE,
  log_user_prompt: false,
  span_attributes: {},
};

function http(endpoint: string): OtelExporter {
  return { type: 'otlp-http', endpoint, protocol: 'json', headers: {} };
}

/** Like a process of its own: the library reads the standard variables from the environment. */
async function start(settings: Partial<OtelSettings>, env: Record<string, string> = {}) {
  const warnings: string[] = [];
  const before = { ...process.env };
  Object.assign(process.env, env);
  onTestFinished(() => {
    process.env = before;
  });
  const telemetry = await startTelemetry({
    settings: { ...SETTINGS, ...settings },
    env,
    service: 'a-service',
    version: '1.2.3',
    redact: createRedactor({ env }),
    log: (level, message) => void (level === 'warn' && warnings.push(message)),
  });
  return { telemetry, warnings };
}

async function receiver(): Promise<Receiver> {
  const started = await startReceiver({ protocol: 'http' });
  onTestFinished(() => started.close());
  return started;
}

/** One span, one event, one number; then everything is sent. */
async function tell(telemetry: Telemetry | null): Promise<void> {
  const span = telemetry?.tracer.span('work', { part: 1 }, undefined, { scope: { 'turn.id': 't1' } });
  span?.event('codex.turn_ttft', { duration_ms: 12 });
  span?.end();
  await telemetry?.close(5000);
}

const kindsOf = ({ spans, logs, points }: Receiver) => [
  ...(spans.length > 0 ? ['traces'] : []),
  ...(logs.length > 0 ? ['logs'] : []),
  ...(points.length > 0 ? ['metrics'] : []),
];

describe('the standard variables', () => {
  const ALL = ['traces', 'logs', 'metrics'];
  it.each([
    ['an endpoint alone: all signals', (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }), ALL],
    [
      'one exporter is none',
      (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_LOGS_EXPORTER: 'none' }),
      ['traces', 'metrics'],
    ],
    [
      'an endpoint of one signal: that one',
      (url: string) => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` }),
      ['traces'],
    ],
    ['all is switched off', (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' }), []],
    ['nothing is set: nothing is sent', () => ({}), []],
  ])('%s', async (_, env, expected) => {
    const collector = await receiver();
    const { telemetry } = await start({}, env(collector.url));
    expect(telemetry === null).toBe(expected.length === 0);
    await tell(telemetry);
    expect(kindsOf(collector)).toEqual(expected);
  });

  it('an exporter that is not offered is named and left out', async () => {
    const { telemetry, warnings } = await start({}, { OTEL_TRACES_EXPORTER: 'zipkin' });
    expect(telemetry).toBeNull();
    expect(warnings).toEqual([expect.stringContaining('OTEL_TRACES_EXPORTER=zipkin')]);
  });

  it('name the service and its resource', async () => {
    const collector = await receiver();
    const { telemetry } = await start(
      { trace_exporter: http(collector.url) },
      { OTEL_SERVICE_NAME: 'mine', OTEL_RESOURCE_ATTRIBUTES: 'team=blue,service.version=9' },
    );
    await tell(telemetry);
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'mine', team: 'blue', 'service.version': '9' });
  });

  it('do not start what the configuration says is none', async () => {
    const collector = await receiver();
    const { telemetry } = await start(
      { trace_exporter: { type: 'none', chosen: true } },
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    );
    await tell(telemetry);
    expect(kindsOf(collector)).toEqual(['logs', 'metrics']);
  });
});

describe('an endpoint of the configuration', () => {
  it('without a path gets the one of its signal, another one is taken as it is', async () => {
    const collector = await receiver();
    const { telemetry } = await start({
      exporter: http(collector.url),
      trace_exporter: http(`${collector.url}/custom/trace`),
    });
    await tell(telemetry);
    expect(collector.requests.map(({ path }) => path).sort()).toEqual(['/custom/trace', '/v1/logs']);
  });

  it('with a certificate of its own is trusted by that', async () => {
    const fixture = (name: string) => join(import.meta.dirname, '../providers/fixtures', name);
    const [key, cert] = [fixture('localhost-key.pem'), fixture('localhost-cert.pem')];
    let bodies = 0;
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
      bodies++;
      request.resume();
      response.end('{}');
    });
    await new Promise<void>(resolve => server.listen(0, 'localhost', resolve));
    onTestFinished(() => void server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const trusted = { ...http(url), tls: { ca_certificate: cert } } as OtelExporter;
    const { telemetry } = await start({ trace_exporter: trusted });
    await tell(telemetry);
    expect(bodies).toBe(1);
  });

  it('whose certificate can not be read costs its signal, and that is told', async () => {
    const collector = await receiver();
    const broken = { ...http(collector.url), tls: { ca_certificate: '/nowhere/ca.pem' } } as OtelExporter;
    const { telemetry, warnings } = await start({ trace_exporter: broken, exporter: http(collector.url) });
    await tell(telemetry);
    expect(kindsOf(collector)).toEqual(['logs']);
    expect(warnings).toEqual([expect.stringMatching(/traces are not sent.*\/nowhere\/ca\.pem/)]);
  });
});

describe('spans', () => {
  it('of a caller that is not recorded are not recorded, and what goes on says so', async () => {
    const collector = await receiver();
    const { telemetry } = await start({ trace_exporter: http(collector.url) });
    const parent = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' };
    const span = telemetry?.tracer.span('work', {}, parent);
    expect(span?.context().traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-00$/);
    span?.end();
    await telemetry?.close(5000);
    expect(collector.spans).toEqual([]);
  });

  it('that are not sent do not stand between a caller and what it called', async () => {
    const collector = await receiver();
    const { telemetry } = await start({ exporter: http(collector.url) });
    const parent = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' };
    const span = telemetry?.tracer.span('outer', {}, parent).span('inner');
    expect(span?.context()).toEqual(parent);
    span?.event('codex.turn_ttft', { duration_ms: 1 });
    await telemetry?.close(5000);
    expect(collector.logs[0]).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
    });
  });

  it('hand their scope down to the events below them', async () => {
    const collector = await receiver();
    const { telemetry } = await start({ exporter: http(collector.url) });
    const outer = telemetry?.tracer.span('outer', {}, undefined, { scope: { 'turn.id': 't1', tool_name: 'none' } });
    outer?.span('inner', {}, { scope: { tool_name: 'exec' } }).event('codex.tool_result', { success: true });
    await telemetry?.close(5000);
    expect(collector.logs[0]?.attributes).toMatchObject({ 'turn.id': 't1', tool_name: 'exec', success: true });
  });
});
