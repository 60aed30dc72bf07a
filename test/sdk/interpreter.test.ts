/** The library, running the built program. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  type ApprovalRequest,
  Codex,
  Interpreter,
  type InterpreterOptions,
  type ThreadEvent,
  type ThreadOptions,
} from '../../src/sdk/index.js';
import { ExecWorld } from '../support/exec-world.js';
import type { Reply } from '../support/model-server.js';
import { isAlive } from '../support/processes.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';

async function create(replies: Reply[], options: InterpreterOptions = {}) {
  const world = await ExecWorld.create(replies);
  const interpreter = new Interpreter({ env: world.env(), ...options });
  const start = (more: ThreadOptions = {}) =>
    interpreter.startThread({ workingDirectory: world.cwd, skipGitRepoCheck: true, ...more });
  return { world, interpreter, start };
}

test('a turn, a second one, and the thread by its id', async () => {
  const { world, interpreter, start } = await create([answer({ say: 'one' }), answer({ say: 'two' })]);
  const thread = start();
  expect(thread.id).toBe(null);
  expect(await thread.run('first')).toEqual({
    items: [{ id: 'item_0', type: 'agent_message', text: 'one' }],
    finalResponse: 'one',
    usage: {
      input_tokens: 100,
      cached_input_tokens: 10,
      cache_write_input_tokens: 0,
      output_tokens: 20,
      reasoning_output_tokens: 5,
    },
  });
  const resumed = interpreter.resumeThread(thread.id ?? '', { workingDirectory: world.cwd, skipGitRepoCheck: true });
  expect((await resumed.run('second')).finalResponse).toBe('two');
  expect(resumed.id).toBe(thread.id);
  expect(world.server.requests[1]?.headers['originator']).toBe('open_interpreter_sdk');
  expect(Codex).toBe(Interpreter);
});

test('threads are listed, newest first', async () => {
  const { world, interpreter, start } = await create([answer({ say: 'ok' })]);
  world.write('other/keep', '');
  await start().run('first');
  await start({ workingDirectory: `${world.root}/other` }).run('second');
  const titles = async (...args: Parameters<Interpreter['listThreads']>) =>
    (await interpreter.listThreads(...args)).map(({ title }) => title);
  expect(await titles()).toEqual(['second', 'first']);
  expect(await titles({ cwd: world.cwd })).toEqual(['first']);
  expect(await titles({ limit: 1 })).toEqual(['second']);
  expect(await titles({ archived: 'only' })).toEqual([]);
});

test('a schema of zod gives a typed answer, a JSON Schema a parsed one', async () => {
  const { world, start } = await create([answer({ say: '{"name":"a","size":3}' })]);
  const outputSchema = z.object({ name: z.string(), size: z.number().max(5) });
  const typed = await start().run('hi', { outputSchema });
  const size: number = typed.output.size;
  expect([typed.output, size]).toEqual([{ name: 'a', size: 3 }, 3]);
  expect(world.server.requests[0]?.body['text']).toMatchObject({
    format: { schema: { type: 'object', required: ['name', 'size'], additionalProperties: false } },
  });
  const parsed = await start().run('hi', { outputSchema: { type: 'object' } });
  expect(parsed.output).toEqual({ name: 'a', size: 3 });
  expect(readdirSync(tmpdir()).filter(name => name.startsWith('interpreter-output-schema-'))).toEqual([]);
});

test('a schema of the first releases of zod 4, which can not say itself, is converted', async () => {
  const { world, start } = await create([answer({ say: '{"a":1}' })]);
  const outputSchema = z.object({ a: z.number() });
  Object.defineProperty(outputSchema['~standard'], 'jsonSchema', { value: undefined });
  expect((await start().run('hi', { outputSchema })).output).toEqual({ a: 1 });
  expect(world.server.requests[0]?.body['text']).toMatchObject({ format: { schema: { required: ['a'] } } });
});

test('an answer that only the library can refuse is an OutputSchemaError', async () => {
  const { start } = await create([answer({ say: '{"a":1}' })]);
  const outputSchema = z.object({ a: z.number().refine(a => a > 1, 'too small') });
  await expect(start().run('hi', { outputSchema })).rejects.toMatchObject({
    name: 'OutputSchemaError',
    message: 'The answer does not match the schema: a: too small',
  });
  await expect(start().run('hi', { outputSchema: 'text' })).rejects.toMatchObject({ name: 'OutputSchemaError' });
  await expect(start().run('hi', { outputSchema: z.custom() })).rejects.toMatchObject({ name: 'OutputSchemaError' });
});

const ESCALATED = { sandbox_permissions: 'require_escalated', justification: 'because' };

test('approvals are asked by callback', async () => {
  const { world, start } = await create([
    answer({ shell: 'echo x > a.txt', args: ESCALATED }),
    answer({ shell: 'echo x > b.txt', args: ESCALATED }),
    answer({ say: 'ok' }),
  ]);
  const asked: ApprovalRequest[] = [];
  const thread = start({
    sandboxMode: 'read-only',
    approve: async request => {
      asked.push(request);
      return request.type === 'command' && request.command.at(-1) === 'echo x > a.txt';
    },
  });
  expect((await thread.run('hi')).finalResponse).toBe('ok');
  expect(asked.map(({ reason }) => reason)).toEqual(['because', 'because']);
  expect(['a.txt', 'b.txt'].map(name => existsSync(`${world.cwd}/${name}`))).toEqual([true, false]);
});

test('a callback that throws ends the turn and is told', async () => {
  const { start } = await create([answer({ shell: 'echo x > a.txt', args: ESCALATED }), answer({ say: 'ok' })]);
  const fault = new Error('no idea');
  const approve = () => {
    throw fault;
  };
  await expect(start({ sandboxMode: 'read-only', approve }).run('hi')).rejects.toMatchObject({
    name: 'ApprovalCallbackError',
    cause: fault,
  });
});

test('without a callback nobody is asked', async () => {
  const { world, start } = await create([answer({ shell: 'echo x > a.txt', args: ESCALATED }), answer({ say: 'ok' })]);
  await start({ sandboxMode: 'read-only', approvalPolicy: 'on-request' }).run('hi');
  expect(existsSync(`${world.cwd}/a.txt`)).toBe(false);
});

test('a question that is open when the turn is aborted is no longer wanted', async () => {
  const { start } = await create([answer({ shell: 'echo x > a.txt', args: ESCALATED }), answer({ say: 'ok' })]);
  const abort = new AbortController();
  let withdrawn = false;
  const thread = start({
    sandboxMode: 'read-only',
    approve: (_, { signal }) => {
      setImmediate(() => abort.abort('enough'));
      return new Promise(resolve =>
        signal.addEventListener('abort', () => {
          withdrawn = true;
          resolve(false);
        }),
      );
    },
  });
  await expect(thread.run('hi', { signal: abort.signal })).rejects.toMatchObject({
    name: 'AbortError',
    code: 'ABORT_ERR',
    cause: 'enough',
  });
  expect(withdrawn).toBe(true);
});

test('a failed turn is a TurnFailedError with the id of the thread, after its last event', async () => {
  const { start } = await create([{ status: 401, body: { error: { message: 'Wrong key: no-120' } } }]);
  const thread = start();
  const { events } = await thread.runStreamed('hi');
  const types: string[] = [];
  const failure = await (async () => {
    for await (const event of events) types.push(event.type);
  })().catch((error: unknown) => error);
  expect(types.at(-1)).toBe('turn.failed');
  expect(failure).toMatchObject({ name: 'TurnFailedError', threadId: thread.id });
  expect(String(failure)).toContain('no-120');
});

test.each<[string, InterpreterOptions, string, string]>([
  [
    'a mistake of configuration',
    { config: { model_provider: 'nope' } },
    'ExecError',
    'Model provider `nope` not found',
  ],
  ['a program that is not there', { interpreterPath: '/nope/interpreter' }, 'ProgramNotStartedError', 'ENOENT'],
  ['a name that PATH does not have', { codexPathOverride: 'no-such-program' }, 'ProgramNotStartedError', 'ENOENT'],
  [
    'a script that prints no JSON',
    { interpreterPath: 'talker.cjs' },
    'InterpreterError',
    'Failed to parse item: hello',
  ],
  ['a value that TOML does not have', { config: { a: Number.NaN } }, 'TypeError', '`a` of `config`'],
])('%s is an error of its own class', async (_, options, name, message) => {
  const { world } = await create([answer({ say: 'ok' })]);
  const talker = world.write('talker.cjs', 'console.log("hello"); setInterval(() => {}, 1000);');
  const own = options.interpreterPath === 'talker.cjs' ? { interpreterPath: talker } : {};
  const interpreter = new Interpreter({ env: world.env(), ...options, ...own });
  const run = interpreter.startThread({ workingDirectory: world.cwd, skipGitRepoCheck: true }).run('hi');
  const error = await run.catch((fault: unknown) => fault);
  expect(error).toMatchObject({ name, message: expect.stringContaining(message) });
});

const SLEEPER = answer({ shell: 'echo $$ > command.pid; exec sleep 600', args: { yield_time_ms: 30_000 } });

async function sleeper(world: ExecWorld): Promise<number> {
  const file = `${world.cwd}/command.pid`;
  return until(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
}

test('when an aborted turn has thrown, everything it started is gone', async () => {
  const { world, start } = await create([SLEEPER, answer({ say: 'later' })]);
  const abort = new AbortController();
  const thread = start();
  const run = thread.run('hi', { signal: abort.signal });
  const outcome = run.catch((error: unknown) => error);
  const pid = await sleeper(world);
  abort.abort();
  expect(await outcome).toMatchObject({ name: 'AbortError' });
  expect(isAlive(pid)).toBe(false);
  expect((await thread.run('go on')).finalResponse).toBe('later');
  const before = world.server.requests.length;
  await expect(thread.run('hi', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  expect(world.server.requests).toHaveLength(before);
});

test('when the loop over the events is left, everything is gone', async () => {
  const { world, start } = await create([SLEEPER]);
  const { events } = await start().runStreamed('hi');
  let [pid, last] = [0, null as ThreadEvent | null];
  for await (const event of events) {
    last = event;
    if (event.type !== 'item.started') continue;
    pid = await sleeper(world);
    break;
  }
  expect(last?.type).toBe('item.started');
  expect(isAlive(pid)).toBe(false);
});

const PACKAGE = path.join(import.meta.dirname, '../..');

/** A script of somebody who has installed the package. */
function userScript(world: ExecWorld, name: string, code: string): string {
  world.write('node_modules/keep', '');
  const link = `${world.root}/node_modules/open-interpreter`;
  if (!existsSync(link)) spawnSync('ln', ['-s', PACKAGE, link]);
  const file = `${world.root}/${name}`;
  writeFileSync(file, code);
  return file;
}

test('a program that is killed takes its turn with it', async () => {
  const { world } = await create([SLEEPER]);
  const file = userScript(
    world,
    'program.mjs',
    `import { Interpreter } from 'open-interpreter';
     await new Interpreter().startThread({ skipGitRepoCheck: true, approve: () => true }).run('hi');`,
  );
  const program = spawn(process.execPath, [file], { cwd: world.cwd, env: world.env(), stdio: 'ignore' });
  const pid = await sleeper(world);
  program.kill('SIGKILL');
  await until(() => !isAlive(pid));
  expect(isAlive(pid)).toBe(false);
});

test('CommonJS gets the same classes, and the import alone does nothing', async () => {
  const { world } = await create([answer({ say: 'from require' })]);
  const file = userScript(
    world,
    'program.cjs',
    `const before = process._getActiveHandles().length;
     const { Interpreter } = require('open-interpreter');
     console.log(process._getActiveHandles().length === before);
     new Interpreter().startThread({ skipGitRepoCheck: true }).run('hi').then(turn => console.log(turn.finalResponse));`,
  );
  const ran = spawn(process.execPath, [file], { cwd: world.cwd, env: world.env() });
  let out = '';
  ran.stdout.on('data', text => (out += text));
  await new Promise(resolve => ran.once('close', resolve));
  expect(out).toBe('true\nfrom require\n');
});
