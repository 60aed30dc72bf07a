/**
 * What threads cost beside the model: turn 2 and turn 200 of a thread with a command in each, the first reply to a thread
 * of 50 MB in a new server until the model is asked, and 16 calls at once with a model that thinks for 200 ms.
 */
import { statSync } from 'node:fs';
import { uuidv7 } from 'uuidv7';
import { NO_USAGE } from '../src/protocol/index.js';
import { createRollout } from '../src/rollout/index.js';
import { median, milliseconds, type Table } from './measure.js';
import { command, say, startModel } from './model.js';
import { makePlace, type Place } from './place.js';
import { turnLines } from './rollout-home.js';
import { BenchServer } from './thread-server.js';

export const name = 'threads';

const RUNS = 3;
/** Below any limit: nothing is to be compacted. */
const USED = { ...NO_USAGE, input_tokens: 1000, total_tokens: 1000 };
const INFO = { total_token_usage: USED, last_token_usage: USED, model_context_window: null };
const LONG = 50 * 1024 * 1024;

/** Needs a build. */
export async function run(): Promise<Table> {
  const turns = await repeat(longThread);
  const resumes = await repeat(() => resume(true));
  const whole = await repeat(() => resume(false));
  const parallel = await repeat(() => atOnce(16));
  const one = await repeat(() => atOnce(1));
  return {
    unit: 'ms',
    rows: [
      { label: 'turn 2, without the model', samples: turns.map(([second]) => second) },
      { label: 'turn 200, without the model (bound: 20 more)', samples: turns.map(([, late]) => late) },
      {
        label: 'reply to a thread of 50 MB until the model is asked (bound: 1500)',
        samples: resumes.map(([ms]) => ms),
      },
      { label: 'peak memory of that server, MB (bound: 250)', samples: resumes.map(([, mb]) => mb) },
      { label: 'the same without a compaction: the model is sent 50 MB', samples: whole.map(([ms]) => ms) },
      { label: 'peak memory of that server, MB', samples: whole.map(([, mb]) => mb) },
      { label: 'one call, the model takes 200 ms', samples: one },
      { label: '16 such calls at once', samples: parallel },
    ],
  };
}

async function repeat<T>(once: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let run = 0; run < RUNS; run++) results.push(await once());
  return results;
}

/** Medians of turns 2 to 6 and 198 to 202, less the time in the model. */
async function longThread(): Promise<[number, number]> {
  const model = await startModel(input => {
    const answered = input.at(-1)?.type === 'function_call_output';
    return [answered ? say('done '.repeat(200)) : command('head -c 3000 /dev/zero | tr "\\0" x', String(input.length))];
  });
  const place = await makePlace(model);
  const server = await BenchServer.start(place);
  const times: number[] = [];
  let threadId = '';
  for (let turn = 1; turn <= 202; turn++) {
    const before = model.ms;
    const ms = await milliseconds(async () => {
      const args = { prompt: `turn ${turn}` };
      threadId = await (turn === 1 ? server.call('codex', args) : server.call('codex-reply', { ...args, threadId }));
    });
    times.push(ms - (model.ms - before));
  }
  await end(server, place, model);
  return [median(times.slice(1, 6)), median(times.slice(197, 202))];
}

async function resume(compacted: boolean): Promise<[number, number]> {
  const model = await startModel(() => [say('here')]);
  const place = await makePlace(model);
  const threadId = writeLongThread(place, compacted);
  const server = await BenchServer.start(place);
  // What a server loads in its first moments is not what is measured.
  await server.call('codex', { prompt: 'warm' });
  const started = performance.now();
  await server.call('codex-reply', { threadId, prompt: 'go on' });
  const ms = (model.requestedAt[1] ?? Number.NaN) - started;
  const memory = server.peakMemory();
  await end(server, place, model);
  return [ms, memory];
}

/** A thread whose file has 50 MB, most of it in outputs of commands. `compacted`: after every tenth turn. Returns its id. */
function writeLongThread({ home, cwd }: Place, compacted: boolean): string {
  const threadId = uuidv7();
  const writer = createRollout({ home, threadId, startedAt: new Date(), warn: console.error });
  const origin = { originator: 'bench', cli_version: '1', source: 'mcp', model_provider: 'bench', git: null };
  const times = { id: threadId, timestamp: new Date().toISOString(), cwd };
  writer.append({ type: 'session_meta', payload: { ...times, ...origin, base_instructions: null, interpreter: null } });
  for (let turn = 0; turn === 0 || statSync(writer.path).size < LONG; turn++) {
    for (const line of turnLines(turn, 'The quick brown fox jumps over the lazy dog. ')) {
      writer.append(line.type === 'turn_context' ? { ...line, payload: { ...line.payload, cwd } } : line);
    }
    if (compacted && turn % 10 === 9) {
      const summary = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'so far' }] } as const;
      writer.append({
        type: 'compacted',
        payload: { message: 'so far', replacement_history: [{ ...summary, content: [...summary.content] }] },
      });
    }
    writer.append({ type: 'event_msg', payload: { type: 'token_count', info: INFO, rate_limits: null } });
    writer.flush();
  }
  writer.close();
  return threadId;
}

async function atOnce(calls: number): Promise<number> {
  const model = await startModel(() => [say('hello')], 200);
  const place = await makePlace(model);
  const server = await BenchServer.start(place);
  await server.call('codex', { prompt: 'warm' });
  const ms = await milliseconds(() =>
    Promise.all(Array.from({ length: calls }, (_, n) => server.call('codex', { prompt: `p${n}` }))),
  );
  await end(server, place, model);
  return ms;
}

async function end(server: BenchServer, place: Place, model: { close(): void }): Promise<void> {
  await server.stop();
  model.close();
  await place.remove();
}
