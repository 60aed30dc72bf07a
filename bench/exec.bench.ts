/**
 * `exec` of a turn with one message, against a model on loopback that answers at once: from the start of the process to
 * its end. BENCH_CODEX names a codex program to compare with (npm: @openai/codex@0.148.0); its home must lie outside the
 * temporary folders, so the home of the bench lies below /var/tmp.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { interleaved, milliseconds, type Table } from './measure.js';

export const name = 'exec';

const program = join(import.meta.dirname, '../dist/interpreter.js');
const RUNS = 15;

/** Needs a build. */
export async function run(): Promise<Table> {
  const folder = await mkdtemp('/var/tmp/interpreter-bench-');
  const model = createModel();
  model.listen(0, '127.0.0.1');
  await once(model, 'listening');
  try {
    const place = await prepare(folder, (model.address() as AddressInfo).port);
    const exec = ['exec', '--json', '--skip-git-repo-check', 'say hello'];
    const reference = process.env['BENCH_CODEX'];
    const rows = await interleaved(
      [
        ...(reference ? [{ label: 'codex exec', once: () => timed([reference, ...exec], place) }] : []),
        { label: 'interpreter exec', once: () => timed([process.execPath, program, ...exec], place) },
        { label: 'node -e 0', once: () => timed([process.execPath, '-e', '0'], place) },
      ],
      RUNS,
    );
    return { unit: 'ms', rows };
  } finally {
    model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Place = { readonly home: string; readonly cwd: string };

async function prepare(folder: string, port: number): Promise<Place> {
  const place = { home: join(folder, 'home'), cwd: join(folder, 'work') };
  await Promise.all([mkdir(place.home), mkdir(place.cwd)]);
  const config = `model = "gpt-5.4"
model_provider = "bench"
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
`;
  await writeFile(join(place.home, 'config.toml'), config);
  return place;
}

function timed([file = '', ...args]: readonly string[], { home, cwd }: Place): Promise<number> {
  return milliseconds(async () => {
    const child = spawn(file, args, {
      cwd,
      env: { PATH: process.env['PATH'], HOME: home, INTERPRETER_HOME: home, CODEX_HOME: home },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.resume();
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with status ${status}`);
  });
}

/** Just enough of the Responses wire API for one message. */
function createModel(): Server {
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const events = [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', output: [item], usage } },
  ];
  const body = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
  });
}
