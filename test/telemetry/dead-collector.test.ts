/** A collector that is no use: turns and the end of the process do not care. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { callsTool, createWorld, runProgram, says, startSession } from './built-server.js';
import { startReceiver } from './otlp-receiver.js';

const KINDS = [
  { name: 'accepts and never answers', protocol: 'http', key: 'otlp-http', silent: true },
  { name: 'accepts and never answers (gRPC)', protocol: 'grpc', key: 'otlp-grpc', silent: true },
  { name: 'is not there', protocol: 'http', key: 'otlp-http', silent: false },
] as const;

describe('a collector that', () => {
  it.each(KINDS)('$name: every turn ends, and the process is gone within two seconds', async kind => {
    const collector = await startReceiver({ protocol: kind.protocol, silent: true });
    if (kind.silent) onTestFinished(() => collector.close());
    else await collector.close();
    const exporter = `{ ${kind.key} = { endpoint = "${collector.url}" } }`;
    const world = await createWorld(
      `[otel]\nexporter = ${exporter}\ntrace_exporter = ${exporter}\nmetrics_exporter = ${exporter}`,
    );
    world.model.reply(
      ...Array.from({ length: 3 }, () => [callsTool('exec_command', { cmd: 'true' }), says('done')]).flat(),
    );
    // Batches go out after a moment: the later turns run while earlier ones wait for their answer.
    const session = await startSession(world, {
      env: {
        OTEL_BSP_SCHEDULE_DELAY: '10',
        OTEL_BLRP_SCHEDULE_DELAY: '10',
        OTEL_METRIC_EXPORT_INTERVAL: '100',
        OTEL_METRIC_EXPORT_TIMEOUT: '100',
      },
    });
    for (let turn = 0; turn < 3; turn++) {
      const result = await session.call({ prompt: 'x', sandbox: 'danger-full-access', 'approval-policy': 'never' });
      expect(result.structuredContent?.content).toBe('done');
    }
    // The bound is a promise of the product, not a measurement.
    expect(await session.end()).toBeLessThan(2000);
    expect(collector.connections() > 0).toBe(kind.silent);
  });

  it.each([
    ['never answers', true],
    ['is not there', false],
  ])('%s does not keep exec either, which says once that nothing was sent', async (_, there) => {
    const collector = await startReceiver({ protocol: 'http', silent: true });
    if (there) onTestFinished(() => collector.close());
    else await collector.close();
    const exporter = `{ otlp-http = { endpoint = "${collector.url}" } }`;
    const world = await createWorld(`[otel]\ntrace_exporter = ${exporter}\nexporter = ${exporter}`);
    world.model.reply(says('done'));
    const { status, stdout, stderr } = await runProgram(world, ['exec', '--skip-git-repo-check', 'work']);
    expect([status, stdout.trim()]).toEqual([0, 'done']);
    expect(collector.requests.length > 0).toBe(there);
    expect(stderr.match(/Telemetry can't be sent: /g)).toHaveLength(1);
  });
});
