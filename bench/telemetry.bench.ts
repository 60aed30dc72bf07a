/**
 * Turns (one command, one message, a model on loopback that answers at once) in a server that has been running for a
 * while: without telemetry, with a collector that answers, and with one that accepts everything and never answers.
 * Bound: the last one at most 5 % above the first. And the same for the start: until `initialize` and the first turn
 * are answered.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { interleaved, milliseconds, type Row, type Table, type Variant } from './measure.js';
import { command, say, startModel } from './model.js';
import { makePlace, type Place } from './place.js';
import { BenchServer } from './thread-server.js';

export const name = 'telemetry';

const RUNS = 120;
/** Turns before those that count: the code of a server that has been running for a while is compiled. */
const WARM_UP = 30;

/** Needs a build. */
export async function run(): Promise<Table> {
  const collectors = [createCollector(true), createCollector(false)];
  const [answering = 0, silent = 0] = await Promise.all(collectors.map(portOf));
  const model = await startModel(input => [
    input.at(-1)?.type === 'function_call_output' ? say('Done.') : command('true', String(input.length)),
  ]);
  const places: Place[] = [];
  const newPlace = async (collector: number | null) => {
    const place = await makePlace(model, collector === null ? '' : exporters(collector));
    places.push(place);
    return place;
  };
  const servers: BenchServer[] = [];
  const newServer = async (collector: number | null) => {
    const server = await BenchServer.start(await newPlace(collector));
    servers.push(server);
    return server;
  };
  try {
    const turns = await measureTurns(newServer, answering, silent);
    const firsts = await interleaved(
      [firstTurn('telemetry off', await newPlace(null)), firstTurn('collector never answers', await newPlace(silent))],
      10,
    );
    return { unit: 'ms', rows: [...turns, ...firsts] };
  } finally {
    await Promise.all(servers.map(server => server.stop()));
    model.close();
    for (const collector of collectors) {
      collector.closeAllConnections();
      collector.close();
    }
    await Promise.all(places.map(place => place.remove()));
  }
}

async function measureTurns(
  newServer: (collector: number | null) => Promise<BenchServer>,
  answering: number,
  silent: number,
): Promise<readonly Row[]> {
  const off = await newServer(null);
  // What differs between these two is noise.
  const alike = await newServer(null);
  const sent = await newServer(answering);
  const hanging = await newServer(silent);
  for (const server of [off, alike, sent, hanging]) for (let at = 0; at < WARM_UP; at++) await turn(server);
  return shuffled(
    [
      { label: 'turn, telemetry off', once: () => milliseconds(() => turn(off)) },
      { label: 'turn, telemetry off, another server', once: () => milliseconds(() => turn(alike)) },
      { label: 'turn, collector answers', once: () => milliseconds(() => turn(sent)) },
      { label: 'turn, collector never answers', once: () => milliseconds(() => turn(hanging)) },
    ],
    RUNS,
  );
}

/** In an order that changes: what a turn leaves to be done after its answer falls into the one behind it. */
async function shuffled(variants: readonly Variant[], runs: number): Promise<readonly Row[]> {
  const rows = variants.map(variant => ({ ...variant, samples: [] as number[] }));
  for (let run = 0; run < runs; run++) {
    const order = rows.map(row => ({ row, at: Math.random() })).sort((a, b) => a.at - b.at);
    for (const { row } of order) row.samples.push(await row.once());
  }
  return rows;
}

function turn(server: BenchServer): Promise<string> {
  return server.call('codex', { prompt: 'go', sandbox: 'workspace-write', 'approval-policy': 'never' });
}

function firstTurn(label: string, place: Place): Variant {
  const once = async () => {
    const started = performance.now();
    const server = await BenchServer.start(place);
    await turn(server);
    const time = performance.now() - started;
    await server.stop();
    return time;
  };
  return { label: `start and first turn, ${label}`, once };
}

function exporters(collector: number): string {
  const exporter = `{ otlp-http = { endpoint = "http://127.0.0.1:${collector}" } }`;
  return `[otel]\nexporter = ${exporter}\ntrace_exporter = ${exporter}\nmetrics_exporter = ${exporter}\n`;
}

function createCollector(answers: boolean): Server {
  return createServer((request, response) => {
    request.resume();
    if (answers) request.on('end', () => response.end());
  });
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
