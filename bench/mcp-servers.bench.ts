/**
 * What configured MCP servers cost the first `codex` call of a process, from the call to its answer: seven servers that
 * work and three that are dead (one does not exist, one ends at once, one never answers). Needs a build.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { interleaved, milliseconds, type Table } from './measure.js';
import { say, startModel } from './model.js';
import { makePlace, type Place } from './place.js';
import { BenchServer } from './thread-server.js';

export const name = 'mcp-servers';

const scripted = join(import.meta.dirname, '../test/fixtures/mcp-servers/scripted.mjs');
const RUNS = 9;

export async function run(): Promise<Table> {
  const model = await startModel(() => [say('hello')]);
  const places: Place[] = [];
  const newPlace = async (servers: string) => {
    const place = await makePlace(model, servers);
    places.push(place);
    return place;
  };
  try {
    const [without, known, dead] = await Promise.all([newPlace(''), newPlace(tenServers()), newPlace(deadServers())]);
    const rows = await interleaved(
      [
        { label: 'without servers', once: () => firstCall(without) },
        { label: 'ten servers, three of them dead', once: () => firstCall(known) },
        { label: 'the three dead ones alone', once: () => firstCall(dead) },
        { label: 'the ten, never seen before', once: async () => firstCall(await newPlace(tenServers())) },
      ],
      RUNS,
    );
    return { unit: 'ms', rows };
  } finally {
    model.close();
    await Promise.all(places.map(place => place.remove()));
  }
}

async function firstCall(place: Place): Promise<number> {
  const server = await BenchServer.start(place);
  // A host has something else to do before it makes its first call.
  await sleep(500);
  const time = await milliseconds(() => server.call('codex', { prompt: 'hello' }));
  // What was learnt about the servers is kept for the next run.
  await sleep(1500);
  await server.stop();
  return time;
}

function tenServers(): string {
  const working = Array.from({ length: 7 }, (_, i) => serverOf(`works_${i}`, { tools: [{ name: 'echo' }] }));
  return [...working, deadServers()].join('');
}

function deadServers(): string {
  return [
    '\n[mcp_servers.missing]\ncommand = "/nonexistent/server"\n',
    serverOf('ends', { dieOn: 'start' }),
    serverOf('silent', { silent: ['server/discover', 'initialize'] }),
  ].join('');
}

function serverOf(server: string, spec: object): string {
  const args = [scripted, JSON.stringify(spec)];
  return `\n[mcp_servers.${server}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\nstartup_timeout_sec = 1\n`;
}
