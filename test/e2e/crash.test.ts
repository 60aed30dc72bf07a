/**
 * Servers are killed with SIGKILL at random points of turns with twenty commands each. Every thread goes on in a new
 * server: nothing that was completed is lost, no command runs twice, and the history is one that any model takes.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { HistoryItem } from '../../src/protocol/index.js';
import { LOST_OUTPUT } from '../../src/rollout/index.js';
import type { Message } from '../mcp-server/line-client.js';
import { allFaults } from '../rollout/role-rules.js';
import { type Body, type Reply, sse } from '../support/model-server.js';
import { until } from '../support/until.js';
import { type ServerWorld, serverWorld, userTexts } from './server-world.js';

const COMMANDS = 20;
const SERVERS = 10;
/** Threads of one server: each is hit at a point of its own. */
const THREADS = 5;
/** Servers at the same time. */
const AT_ONCE = 2;

const input = (body: Body): HistoryItem[] => body['input'];
const numberOf = (callId: string): number => Number(callId.slice(1));

/** The next command, which adds its number to a file; in the end an answer. It asks for what the history has not yet. */
function model(body: Body): Reply {
  const calls = input(body).flatMap(item => (item.type === 'function_call' ? [numberOf(item.call_id)] : []));
  const next = Math.max(0, ...calls) + 1;
  const item = next <= COMMANDS ? command(next) : text(`done ${COMMANDS}`);
  return {
    stream: [
      sse({ type: 'response.output_item.done', output_index: 0, item }, true),
      sse({ type: 'response.completed', response: { id: 'r', status: 'completed' } }, true),
    ],
  };
}

function command(number: number): object {
  const args = JSON.stringify({ cmd: `echo ${number} >> numbers`, login: false });
  return { type: 'function_call', id: `fc_${number}`, call_id: `n${number}`, name: 'exec_command', arguments: args };
}

const text = (said: string): object => ({
  type: 'message',
  id: 'msg_end',
  role: 'assistant',
  content: [{ type: 'output_text', text: said }],
});

type Killed = {
  readonly threadId: string;
  readonly cwd: string;
  readonly rollout: string;
  /** Call ids of commands whose end the client was told. */
  readonly ended: readonly string[];
  readonly answered: boolean;
};

type Kill = {
  readonly name: string;
  readonly afterRequests: number;
  readonly delayMs: number;
};

/** Starts a server with turns in all its threads, and kills it some time after its n-th model request. */
async function killOne(world: ServerWorld, { name, afterRequests, delayMs }: Kill, requests: () => number) {
  const server = world.start();
  const { client } = server;
  await client.initialize();
  const folders = Array.from({ length: THREADS }, (_, n) => path.join(world.cwd, `${name}-${n}`));
  const ids = folders.map((cwd, n) => {
    mkdirSync(cwd);
    client.send({
      id: n,
      method: 'tools/call',
      params: { name: 'codex', arguments: { prompt: `count ${name}`, cwd } },
    });
    return n;
  });
  await client.waitFor(() => client.events('session_configured').length === THREADS);
  await until(() => requests() >= afterRequests || client.responses.length > THREADS);
  await new Promise(resolve => setTimeout(resolve, delayMs));
  server.child.kill('SIGKILL');
  await server.exited;
  return ids.map((id, n) =>
    killed(
      client.events(),
      id,
      folders[n] ?? '',
      client.responses.some(one => one.id === id),
    ),
  );
}

function killed(events: Message['params'][], id: number, cwd: string, answered: boolean): Killed {
  const own = events.filter(({ _meta }) => _meta.requestId === id).map(({ msg }) => msg);
  const start = own.find(msg => msg.type === 'session_configured');
  const ended = own.flatMap(msg => (msg.type === 'exec_command_end' ? [msg.call_id] : []));
  return { threadId: start.session_id, rollout: start.rollout_path, cwd, ended, answered };
}

/** What is wrong with a thread after it was continued; empty when nothing is. */
function faults(thread: Killed, result: Message['result'], last: Body): string[] {
  const found: string[] = [];
  if (result.isError || result.structuredContent.content !== `done ${COMMANDS}`) found.push(JSON.stringify(result));
  const numbers = readFileSync(path.join(thread.cwd, 'numbers'), 'utf8').trim().split('\n').map(Number);
  if (numbers.some((number, at) => at > 0 && number <= (numbers[at - 1] ?? 0))) found.push(`ran: ${numbers.join()}`);
  const outputs = new Map(
    input(last).flatMap(item => (item.type === 'function_call_output' ? [[numberOf(item.call_id), item.output]] : [])),
  );
  for (let number = 1; number <= COMMANDS; number++) {
    const output = outputs.get(number);
    if (output === undefined) found.push(`no output of ${number}`);
    // Only what was under way may be missing, and the model is told.
    if (!numbers.includes(number) && output !== LOST_OUTPUT)
      found.push(`${number} did not run: ${JSON.stringify(output)}`);
  }
  if ([...outputs.values()].filter(output => output === LOST_OUTPUT).length > 1) found.push('several outputs are lost');
  const lines = readFileSync(thread.rollout, 'utf8').split('\n');
  const items = lines.filter(line => line.includes('"item_completed"') && line.includes('"CommandExecution"'));
  for (const id of thread.ended) {
    if (!items.some(line => line.includes(`"id":"${id}"`))) found.push(`the item of ${id} is lost`);
  }
  return [...found, ...allFaults(input(last))];
}

it('a killed server loses nothing and repeats nothing', async () => {
  const requests = new Map<string, number>();
  const world = await serverWorld([
    body => {
      const [prompt = ''] = userTexts(body).filter(said => said.startsWith('count '));
      requests.set(prompt, (requests.get(prompt) ?? 0) + 1);
      return model(body);
    },
  ]);
  const kills = Array.from({ length: SERVERS }, (_, n) => ({
    name: `server${n}`,
    // From the first requests to the last ones, at random within an even share.
    afterRequests: Math.ceil(((n + Math.random()) / SERVERS) * COMMANDS * THREADS),
    delayMs: Math.random() * 15,
  }));
  const waiting = [...kills];
  const threads: Killed[] = [];
  const worker = async () => {
    for (let kill = waiting.shift(); kill; kill = waiting.shift()) {
      const { name } = kill;
      const hit = await killOne(world, kill, () => requests.get(`count ${name}`) ?? 0);
      const next = world.start();
      await next.client.initialize();
      await Promise.all(
        hit.map(async thread => {
          const { threadId } = thread;
          const { result } = await next.client.call('codex-reply', { threadId, prompt: `go on ${threadId}` });
          const last = world.server.requests.findLast(({ body }) => userTexts(body).includes(`go on ${threadId}`));
          expect({ kill, faults: faults(thread, result, last?.body ?? {}) }).toEqual({ kill, faults: [] });
        }),
      );
      next.client.end();
      threads.push(...hit);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(threads).toHaveLength(SERVERS * THREADS);
  // The point of it all: most turns were under way.
  const interrupted = threads.filter(thread => !thread.answered && thread.ended.length > 0);
  expect(interrupted.length).toBeGreaterThan(SERVERS * THREADS * 0.6);
}, 120_000);
