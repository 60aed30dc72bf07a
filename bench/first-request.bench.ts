/**
 * What the first model request of a process costs, and a later one: the providers room against Node's `fetch` and the
 * `openai` package, each bundled as the product is and started afresh; and what loading the configuration and building a
 * request costs without sending it. Milliseconds of CPU from before its modules are loaded until the answer was read,
 * the same without loading them (here without the code cache that the product has), and wall time of later requests.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Table } from './measure.js';

const root = join(import.meta.dirname, '..');
const RUNS = 9;

const REQUEST = `
    const request = model => ({ model, instructions: 'i', input: [{ type: 'message', role: 'user',
      content: [{ type: 'input_text', text: 'hi' }] }], tools: [], parallel_tool_calls: true,
      reasoning: { effort: null, summary: null }, verbosity: null, service_tier: null, output_schema: null,
      thread_id: 't', turn_id: 't', window: 0, headers: {} });
    const read = async (provider, model) => {
      let last;
      for await (const event of provider.stream(request(model), new AbortController().signal)) last = event;
      return last;
    };`;

/** Each defines `once`: one streamed answer read to its end. `url` and `home` (with a config.toml) are there. */
const CLIENTS: Readonly<Record<string, string>> = {
  'src/providers': `
    ${REQUEST}
    const { createProvider, modelInfo } = await import('./src/providers/index.ts');
    const settings = { id: 'bench', name: 'bench', base_url: url, wire_api: 'responses', experimental_bearer_token: 'k',
      http_headers: {}, env_http_headers: {}, query_params: {}, request_max_retries: 0, stream_max_retries: 0,
      stream_idle_timeout_ms: 60000 };
    const provider = createProvider(settings, { env: {}, originator: 'bench', version: '0' });
    once = async () => {
      const last = await read(provider, modelInfo('gpt-5.4', settings));
      if (last.type !== 'completed') throw new Error(JSON.stringify(last));
    };`,
  'config and request, unsent': `
    ${REQUEST}
    const { loadConfig } = await import('./src/config/index.ts');
    const { createProvider, modelInfo } = await import('./src/providers/index.ts');
    const env = { INTERPRETER_HOME: home, BENCH_KEY: 'k' };
    once = async () => {
      const config = loadConfig({ env, process_cwd: home, front_door: 'exec' });
      let size = 0;
      const connections = { warm: async () => {}, close: () => {}, send: async ({ body }) => {
        size = body.length;
        throw new Error('unsent');
      } };
      const provider = createProvider(config.provider, { env, connections, originator: 'bench', version: '0' });
      await read(provider, modelInfo(config.model, config.provider));
      if (size === 0) throw new Error('no request was built');
    };`,
  fetch: `
    const { createParser } = await import('eventsource-parser');
    once = async () => {
      const response = await fetch(url + '/responses', { method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
        body: JSON.stringify({ model: 'gpt-5.4', input: 'hi', stream: true }) });
      const parser = createParser({ onEvent: event => JSON.parse(event.data) });
      const decoder = new TextDecoder();
      for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
    };`,
  'openai package': `
    const { OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey: 'k', baseURL: url, maxRetries: 0 });
    once = async () => {
      const stream = await client.responses.create({ model: 'gpt-5.4', input: 'hi', stream: true });
      for await (const _event of stream);
    };`,
};

const MEASURE = (client: string) => `
  const [, , url, home] = process.argv;
  const cpu = process.cpuUsage();
  let once;
  ${client}
  const loaded = process.cpuUsage();
  await once();
  const used = process.cpuUsage(cpu);
  const own = process.cpuUsage(loaded);
  const later = [];
  for (let i = 0; i < 30; i++) { const at = performance.now(); await once(); later.push(performance.now() - at); }
  later.sort((a, b) => a - b);
  console.log(JSON.stringify({
    first: (used.user + used.system) / 1000,
    'first, when loaded': (own.user + own.system) / 1000,
    later: later[15],
  }));
  process.exit();`;

const ITEM = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] };
const EVENTS = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, content: [] } },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'ok' },
  { type: 'response.output_item.done', output_index: 0, item: ITEM },
  { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [], usage: null } },
];

/** Reading certificates slows every start down by the same amount. */
const { NODE_EXTRA_CA_CERTS: _certificates, ...CLEAN_ENV } = process.env;

const WHEN = ['first', 'first, when loaded', 'later'] as const;
type When = (typeof WHEN)[number];
type Figures = Readonly<Record<When, number>>;

export const name = 'first-request';

export async function run(): Promise<Table> {
  const folder = await mkdtemp(join(tmpdir(), 'first-request-'));
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of EVENTS) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    const config = 'model = "gpt-5.4"\nmodel_provider = "bench"\n[model_providers.bench]\n';
    const entry = `base_url = "${url}"\nenv_key = "BENCH_KEY"\nrequest_max_retries = 0\n`;
    await writeFile(join(folder, 'config.toml'), config + entry);
    const programs = await Promise.all(Object.entries(CLIENTS).map(entry => bundle(entry, folder)));
    const figures = programs.map((): Figures[] => []);
    for (let turn = 0; turn < RUNS; turn++) {
      for (const [index, program] of programs.entries()) figures[index]?.push(await measure(program, [url, folder]));
    }
    const labels = Object.keys(CLIENTS);
    const row = (when: When) => (label: string, index: number) => ({
      label: `${label}, ${when}`,
      samples: (figures[index] ?? []).map(figure => figure[when]),
    });
    return { unit: 'ms', rows: WHEN.flatMap(when => labels.map(row(when))) };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function bundle([name, client]: [string, string], folder: string): Promise<string> {
  const outdir = join(folder, name.replaceAll(/\W/g, '-'));
  await build({
    stdin: { contents: MEASURE(client), resolveDir: root, sourcefile: 'main.mjs', loader: 'js' },
    outdir,
    bundle: true,
    splitting: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    outExtension: { '.js': '.mjs' },
    external: ['@napi-rs/keyring'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return join(outdir, 'stdin.mjs');
}

function measure(program: string, args: readonly string[]): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env: CLEAN_ENV });
    let text = '';
    child.stdout.on('data', chunk => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', code =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${program} exited with ${code}`)),
    );
  });
}
