/** What `exec` checks before the turn, in which order, and what its exit status says. */
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ExecWorld } from '../support/exec-world.js';
import { describeIf } from '../support/requires.js';
import { answer } from '../support/scripted-answers.js';

const create = (config = '') => ExecWorld.create([answer({ say: 'ok' })], config);

test.each<[string, string[], string]>([
  ['an unknown option', ['--nope', 'hi'], "unknown option '--nope'"],
  ['a second prompt', ['hi', 'there'], 'too many arguments'],
  ['an unknown sandbox mode', ['-s', 'everything', 'hi'], 'Allowed choices are read-only, workspace-write'],
  ['a profile that is a path', ['-p', 'a/b', 'hi'], 'plain name'],
  ['a descriptor that is none', ['--approvals-fd', '1', 'hi'], 'from 3 on'],
  ['--approve-for-me', ['--approve-for-me', 'hi'], '--approve-for-me is not offered'],
  ['resume without a thread', ['resume'], '--last'],
  ['a thread id with --last', ['resume', '--last', 'id', 'hi'], 'quote the prompt'],
  ['a review of nothing', ['review'], '--uncommitted'],
  ['a review of two things', ['review', '--uncommitted', '--base', 'main'], 'cannot be used with'],
  ['a title without a commit', ['review', '--uncommitted', '--title', 't'], 'cannot be used with'],
])('%s ends with status 2', async (_, args, message) => {
  const world = await create();
  const { code, out, err } = await world.exec(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
});

test.each<[string, string[], string]>([
  [
    'an override without a value',
    ['-c', 'foo', 'hi'],
    "Error parsing -c overrides: Invalid override (missing '='): foo",
  ],
  ['an unknown feature', ['--enable', 'nope', 'hi'], 'Error: Unknown feature flag: nope'],
  ['an unknown provider', ['-c', 'model_provider=nope', 'hi'], 'Error: Model provider `nope` not found'],
  ['a value of a wrong kind', ['-c', 'model_verbosity=3', 'hi'], 'model_verbosity'],
  ['an unknown profile', ['-p', 'nope', 'hi'], 'The profile `nope` does not exist'],
  ['a folder that is not there', ['-C', '/nonexistent-folder', 'hi'], '/nonexistent-folder does not exist'],
  ['a schema that is not there', ['--output-schema', 'nope.json', 'hi'], 'Failed to read output schema file nope.json'],
  ['a schema that is no JSON', ['--output-schema', 'text.txt', 'hi'], 'text.txt is not valid JSON'],
  ['a schema that is no object', ['--output-schema', 'list.json', 'hi'], 'list.json is not a JSON Schema'],
  [
    'an unknown thread',
    ['resume', '01a22728-edd7-72e1-a004-b508dc2ec8f3', 'hi'],
    'no rollout found for thread id 01a2',
  ],
  ['a name that no thread has', ['resume', 'my-thread', 'hi'], 'no rollout found for thread id my-thread'],
  ['a fork of an unknown thread', ['fork', '01a22728-edd7-72e1-a004-b508dc2ec8f3', 'hi'], 'cannot fork 01a2'],
  ['resume --last where there is no thread', ['resume', '--last', 'hi'], 'no thread to resume'],
  ['a descriptor that is not open', ['--approvals-fd', '77', 'hi'], '--approvals-fd 77'],
])('%s ends with status 1, before the model is asked', async (_, args, message) => {
  const world = await create();
  world.write('work/text.txt', 'text');
  world.write('work/list.json', '[]');
  const { code, out, err } = await world.exec(['--json', ...args]);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(message);
  expect(world.server.requests).toEqual([]);
});

test('a mistake in config.toml is shown with its place', async () => {
  const world = await create('model_verbosity = "loud"\n');
  const { code, err } = await world.exec(['hi']);
  expect(code).toBe(1);
  expect(err).toMatch(/^Error loading config\.toml:\n.*config\.toml:4:\d+: .*loud/);
});

test('a bad rules file ends the run', async () => {
  const world = await create();
  world.write('home/rules/bad.rules', 'prefix_rule(pattern=[])\n');
  const { code, err } = await world.exec(['hi']);
  expect(code).toBe(1);
  expect(err).toMatch(/^Error loading rules:\n.*bad\.rules:1:/);
  expect((await world.exec(['--ignore-rules', 'hi'])).code).toBe(0);
});

test('outside a git work tree somebody has to say that it is meant', async () => {
  const world = await create();
  const { code, out, err } = await world.run(['exec', '--json', 'hi']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('--skip-git-repo-check was not specified');
  expect((await world.run(['exec', '--yolo', 'hi'])).code).toBe(0);
  expect((await world.run(['exec', '--dangerously-bypass-approvals-and-sandbox', 'hi'])).code).toBe(0);
  mkdirSync(`${world.cwd}/.git`);
  mkdirSync(`${world.cwd}/below`);
  expect((await world.run(['exec', 'hi'], { cwd: `${world.cwd}/below` })).code).toBe(0);
});

test('the first of several mistakes is told', async () => {
  const world = await create('model_verbosity = "loud"\n');
  const first = async (...args: string[]) => (await world.run(['exec', ...args], { input: '' })).err.split('\n')[0];
  expect(await first('-c', 'foo')).toContain('Error parsing -c');
  expect(await first('-C', world.cwd)).toContain('Error loading config.toml');
  expect(await first('--ignore-user-config', '-c', 'model_provider=nope')).toContain('Model provider');
  expect(await first('--ignore-user-config', '--output-schema', 'x')).toBe('Reading prompt from stdin...');
});

test('options of the command line reach the request', async () => {
  const world = await create();
  world.write('home/fast.config.toml', 'model_reasoning_effort = "low"\n');
  await world.json(['-c', 'model="from-c"', 'hi']);
  await world.run(['-c', 'model="outer"', 'e', '--skip-git-repo-check', '-c', 'model="inner"', 'hi']);
  await world.json(['-m', 'gpt-5.4', '-c', 'model="from-c"', '-p', 'fast', 'hi'], {
    env: { CODEX_INTERNAL_ORIGINATOR_OVERRIDE: 'my_program' },
  });
  expect(world.server.requests.map(({ body }) => body['model'])).toEqual(['from-c', 'inner', 'gpt-5.4']);
  const last = world.server.requests.at(-1);
  expect(last?.body['reasoning']).toMatchObject({ effort: 'low' });
  expect(last?.headers).toMatchObject({
    originator: 'my_program',
    'user-agent': expect.stringMatching(/^my_program\//),
  });
});

test('CODEX_API_KEY is the key of OpenAI and of nobody else, and commands do not get it', async () => {
  const world = await ExecWorld.create([answer({ shell: 'echo "[$CODEX_API_KEY]" > key.txt' }), answer({ say: 'ok' })]);
  const env = { CODEX_API_KEY: 'sk-codex', OPENAI_API_KEY: 'sk-openai', XAI_API_KEY: 'sk-xai' };
  const openai = ['-c', 'model_provider=openai', '-c', `openai_base_url=${world.server.url}`];
  const all = ['-c', 'shell_environment_policy.ignore_default_excludes=true'];
  await world.json([...openai, ...all, 'hi'], { env });
  expect(world.server.requests[0]?.headers.authorization).toBe('Bearer sk-codex');
  expect(world.read('work/key.txt')).toBe('[]\n');
  await world.json(['-c', 'model_providers.mock.env_key=OPENAI_API_KEY', 'hi'], { env });
  expect(world.server.requests.at(-1)?.headers.authorization).toBe('Bearer sk-openai');
});

test('a failed turn is never status 0', async () => {
  const world = await ExecWorld.create([{ status: 401, body: { error: { message: 'Wrong key: no-120' } } }]);
  const json = await world.json(['-o', 'last.txt', 'hi']);
  expect(json.code).toBe(1);
  expect(json.events.at(-1)).toMatchObject({
    type: 'turn.failed',
    error: { message: expect.stringContaining('no-120') },
  });
  expect(() => world.read('work/last.txt')).toThrow('ENOENT');
  const human = await world.exec(['hi']);
  expect(human).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ERROR: 401') });
});

test('-o writes the answer and nothing else; a file that can not be written is status 1', async () => {
  const world = await ExecWorld.create([answer({ say: 'line 1\nline 2 ü' })]);
  expect((await world.json(['-o', 'out.txt', 'hi'])).code).toBe(0);
  expect(world.read('work/out.txt')).toBe('line 1\nline 2 ü');
  const failed = await world.json(['-o', 'no/such/folder.txt', 'hi']);
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('no/such/folder.txt') });
});

test('hooks of a project that nobody trusts run only when that is asked for, and it is told', async () => {
  const world = await create();
  const command = { type: 'command', command: 'touch hook-ran' };
  world.write(
    'work/.openinterpreter/hooks.json',
    JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [command] }] } }),
  );
  const warnings = async (...flags: string[]) => {
    const { items } = await world.json([...flags, 'hi']);
    return items.flatMap(item => (item.type === 'error' ? [item.message] : [])).join('\n');
  };
  expect(await warnings()).toContain('not trusted');
  expect(() => world.read('work/hook-ran')).toThrow('ENOENT');
  expect(await warnings('--dangerously-bypass-hook-trust')).toContain('--dangerously-bypass-hook-trust was given');
  expect(world.read('work/hook-ran')).toBe('');
});

test('a required MCP server that does not start fails the run', async () => {
  const world = await create();
  const broken = ['-c', 'mcp_servers.broken={command="/nonexistent/server", required=true}'];
  const { code, events } = await world.json([...broken, 'hi']);
  expect(code).toBe(1);
  expect(events.at(-1)).toMatchObject({ type: 'turn.failed', error: { message: expect.stringContaining('broken') } });
  expect(world.server.requests).toEqual([]);
});

test('a local provider is asked with --oss, or by its name', async () => {
  const world = await create();
  const env = { CODEX_OSS_BASE_URL: world.server.url };
  expect((await world.json(['--oss', 'hi'], { env })).err).toContain('--local-provider');
  await world.json(['--oss', '--local-provider', 'ollama', 'hi'], { env });
  await world.json(['--local-provider', 'lmstudio', '-m', 'mine', 'hi'], { env });
  await world.json(['--oss', '-c', 'oss_provider=lmstudio', '-m', 'mine', 'hi'], { env });
  expect(world.server.requests.map(({ body }) => body['model'])).toEqual(['gpt-4.1', 'mine', 'mine']);
});

describeIf('bubblewrap', 'in a sandbox', () => {
  test('a further folder can be written in, and the configuration can be left out', async () => {
    const world = await ExecWorld.create([answer({ shell: 'echo x > ../other/in.txt' }), answer({ say: 'ok' })]);
    world.write('other/keep', '');
    await world.json(['-s', 'workspace-write', '--add-dir', `${world.root}/other`, 'hi']);
    expect(world.read('other/in.txt')).toBe('x\n');
    const { code, err } = await world.json(['--ignore-user-config', 'hi']);
    expect({ code, asked: world.server.requests.length }).toEqual({ code: 1, asked: 2 });
    expect(err).toBe('');
  });
});
