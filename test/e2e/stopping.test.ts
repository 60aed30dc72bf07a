/** Stop means stop: a cancelled call, a client that goes away, a signal. Commands, model connections, the next reply. */
import { describe, expect, it } from 'vitest';
import { processesOf, uniqueSeconds } from '../support/processes.js';
import { describeIf } from '../support/requires.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';
import { outputs, type Server, type ServerWorld, serverWorld, userTexts } from './server-world.js';

const long = { yield_time_ms: 30_000 };

/** Starts a call with id 7 whose command sleeps so long, and waits until it does. */
async function sleeping(world: ServerWorld, server: Server, seconds: string): Promise<string> {
  await server.client.initialize();
  server.client.send({ id: 7, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'first' } } });
  await until(() => processesOf(`sleep ${seconds}`).length > 0);
  return server.client.events('session_configured')[0]?.msg.session_id;
}

const gone = (seconds: string) => until(() => processesOf(`sleep ${seconds}`).length === 0);

function cancelling(mode: string): void {
  it.each([
    ['a command', (s: string) => `echo begun; sleep ${s}`],
    [
      'one that ignores TERM, with children in other sessions',
      (s: string) => `echo begun; trap '' TERM; setsid sleep ${s} & sleep ${s}; sleep ${s}`,
    ],
  ])('ends %s, sends no answer, and the next reply tells the model', async (_name, script) => {
    const seconds = uniqueSeconds();
    const world = await serverWorld([answer({ shell: script(seconds), args: long }), answer({ say: 'later' })]);
    world.write('home/config.toml', world.read('home/config.toml').replace('danger-full-access', mode));
    const server = world.start();
    const threadId = await sleeping(world, server, seconds);
    server.client.notify('notifications/cancelled', { requestId: 7, reason: 'enough' });
    await gone(seconds);
    const reply = await server.client.call('codex-reply', { prompt: 'second', threadId });
    expect(reply.result.structuredContent).toMatchObject({ content: 'later', status: 'completed' });
    expect(server.client.responses.some(({ id }) => id === 7)).toBe(false);
    const body = world.server.requests[1]?.body;
    expect(outputs(body)).toEqual([expect.stringMatching(/aborted by user\n[\s\S]*begun\n/)]);
    expect(userTexts(body).slice(-3)).toEqual(['first', expect.stringContaining('<turn_aborted>'), 'second']);
    expect(server.client.events('turn_aborted')).toHaveLength(1);
  });
}

describe.skipIf(process.platform === 'darwin')('a cancelled call without a sandbox', () => {
  cancelling('danger-full-access');
});

describeIf('bubblewrap', 'a cancelled call in a sandbox', () => {
  cancelling('workspace-write');
});

describe('a cancelled call', () => {
  it.each(['silence', 'open'] as const)('closes the connection to a model in %s', async kind => {
    const world = await serverWorld([
      kind === 'silence' ? 'silence' : { stream: ['event: ping\ndata: {}\n\n'], ending: 'open' },
      answer({ say: 'later' }),
    ]);
    const { client } = world.start();
    await client.initialize();
    client.send({ id: 7, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'first' } } });
    await until(() => world.server.requests.length === 1);
    client.notify('notifications/cancelled', { requestId: 7 });
    expect(await world.server.requests[0]?.closed).toBe('cut');
    const threadId = client.events('session_configured')[0]?.msg.session_id;
    const reply = await client.call('codex-reply', { prompt: 'second', threadId });
    expect(reply.result.structuredContent.content).toBe('later');
  });

  it('leaves other calls alone', async () => {
    const [mine, other] = [uniqueSeconds(), '0.7'];
    const world = await serverWorld([
      body => answer({ shell: userTexts(body).at(-1) === 'A' ? `sleep ${mine}` : `sleep ${other}`, args: long }),
      body => answer({ shell: userTexts(body).at(-1) === 'A' ? `sleep ${mine}` : `sleep ${other}`, args: long }),
      answer({ say: 'done' }),
    ]);
    const { client } = world.start();
    await client.initialize();
    client.send({ id: 7, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'A' } } });
    const running = client.call('codex', { prompt: 'B' });
    await until(() => processesOf(`sleep ${mine}`).length > 0);
    client.notify('notifications/cancelled', { requestId: 7 });
    expect((await running).result.structuredContent).toMatchObject({ content: 'done', status: 'completed' });
    await gone(mine);
  });
});

describe('the end of the server', () => {
  it.each<[string, (server: Server) => void]>([
    ['the end of its input', ({ client }) => client.end()],
    ['SIGTERM', ({ child }) => void child.kill('SIGTERM')],
    ['SIGINT', ({ child }) => void child.kill('SIGINT')],
    ['both at once', ({ child, client }) => (client.end(), void child.kill('SIGTERM'))],
  ])('by %s ends commands and model connections, and the thread can be continued', async (_name, stop) => {
    const seconds = uniqueSeconds();
    const script = `trap '' TERM INT HUP; nohup sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds}; true`;
    const world = await serverWorld([answer({ shell: script, args: long }), answer({ say: 'later' })]);
    const server = world.start();
    const threadId = await sleeping(world, server, seconds);
    stop(server);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(processesOf(`sleep ${seconds}`)).toEqual([]);
    const next = world.start();
    await next.client.initialize();
    const reply = await next.client.call('codex-reply', { prompt: 'second', threadId });
    expect(reply.result.structuredContent).toMatchObject({ content: 'later', status: 'completed' });
    expect(userTexts(world.server.requests[1]?.body)).toContain('first');
  });

  it('with a model that says nothing is the end of that connection too', async () => {
    const world = await serverWorld(['silence']);
    const { client, exited } = world.start();
    await client.initialize();
    client.send({ id: 7, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'x' } } });
    await until(() => world.server.requests.length === 1);
    client.end();
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(await world.server.requests[0]?.closed).toBe('cut');
  });
});

describe.skipIf(process.platform === 'darwin')('a server that is killed', () => {
  it('takes its commands with it, and another one goes on with the thread', async () => {
    const seconds = uniqueSeconds();
    const world = await serverWorld([answer({ shell: `sleep ${seconds}`, args: long }), answer({ say: 'later' })]);
    const server = world.start();
    const threadId = await sleeping(world, server, seconds);
    server.child.kill('SIGKILL');
    await server.exited;
    const next = world.start();
    await next.client.initialize();
    const reply = await next.client.call('codex-reply', { prompt: 'second', threadId });
    expect(reply.result.structuredContent).toMatchObject({ content: 'later', status: 'completed' });
    expect(outputs(world.server.requests[1]?.body)).toEqual([expect.stringMatching(/^aborted: the agent stopped/)]);
    await gone(seconds);
  });
});

describe('two servers on one home', () => {
  it('do not run one thread at the same time: the second one says who has it', async () => {
    const world = await serverWorld([answer({ say: 'a1' }), 'silence']);
    const [one, two] = [world.start(), world.start()];
    await Promise.all([one.client.initialize(), two.client.initialize()]);
    const { threadId } = (await one.client.call('codex', { prompt: 'q1' })).result.structuredContent;
    one.client.send({
      id: 7,
      method: 'tools/call',
      params: { name: 'codex-reply', arguments: { prompt: 'q2', threadId } },
    });
    await until(() => world.server.requests.length === 2);
    const { result } = await two.client.call('codex-reply', { prompt: 'q3', threadId });
    expect(result.isError).toBe(true);
    expect(result.structuredContent.content).toContain(`in use by process ${one.child.pid}`);
    expect(world.server.requests).toHaveLength(2);
  });
});
