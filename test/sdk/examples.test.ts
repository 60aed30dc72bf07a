/** The programs of examples/, as somebody runs them who has installed the package. */
import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ExecWorld } from '../support/exec-world.js';
import type { Reply } from '../support/model-server.js';
import { describeIf } from '../support/requires.js';
import { answer } from '../support/scripted-answers.js';
import { CHECKOUT, copyInto, install } from './installed.js';

async function create(replies: Reply[], config = ''): Promise<ExecWorld> {
  const world = await ExecWorld.create(replies, config);
  install(world.root);
  return world;
}

function run(
  world: ExecWorld,
  file: string,
  args: readonly string[],
): Promise<{ code: number | null; out: string; err: string }> {
  const env = world.env();
  const bin = path.join(world.root, 'node_modules/.bin');
  const child = spawn(file, args, {
    cwd: world.cwd,
    env: { ...env, PATH: `${bin}:${path.dirname(process.execPath)}:${env['PATH']}` },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', text => (out += text));
  child.stderr.on('data', text => (err += text));
  return new Promise(resolve => child.once('close', code => resolve({ code, out, err })));
}

/** Runs TypeScript as it is. */
const TSX = ['--import', path.join(CHECKOUT, 'node_modules/tsx/dist/loader.mjs')];

describeIf('bubblewrap', 'in a sandbox', () => {
  describeIf('git', 'review-in-ci.sh', () => {
    const finding = (priority: string) => JSON.stringify({ findings: [{ priority, place: 'a.txt:1', text: 'wrong' }] });

    test.each([
      ['a grave finding fails the job', answer({ say: finding('P1') }), 1, 'P1 a.txt:1: wrong\n'],
      ['a small one does not', answer({ say: finding('P3') }), 0, 'P3 a.txt:1: wrong\n'],
      ['none is said', answer({ say: '{"findings":[]}' }), 0, 'No findings.\n'],
      ['no verdict fails the job', { status: 401 }, 1, ''],
    ])('%s', async (_, reply, code, out) => {
      const world = await create([reply]);
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
          cwd: world.cwd,
          env: world.env(),
        });
      git('init', '-q', '-b', 'main');
      git('commit', '-q', '--allow-empty', '-m', 'first');
      world.write('work/a.txt', 'a change\n');
      const ran = await run(world, path.join(CHECKOUT, 'examples/review-in-ci.sh'), ['main']);
      expect({ code: ran.code, out: ran.out }).toEqual({ code, out });
      expect(world.prompt()).toContain('+a change');
    });
  });
});

test('sdk.mts prints what happens and a typed answer', async () => {
  const world = await create([
    answer({ shell: 'ls' }),
    answer({ say: 'A small project.' }),
    answer({ say: '{"language":"TypeScript","files":3}' }),
  ]);
  const ran = await run(world, process.execPath, [...TSX, copyInto(world.root, 'examples/sdk.mts')]);
  expect(ran.err).toBe('');
  expect(ran.out.replace(/[0-9a-f-]{36}/, 'ID')).toBe(`$ /bin/bash -c ls
A small project.
3 files, mostly TypeScript; 60 tokens written
go on with: interpreter exec resume ID
`);
});

test('mcp-client.mts approves a command and goes on with the thread', async () => {
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'to write' };
  const world = await create([
    answer({ shell: 'echo hello > hello.txt', args: escalated }),
    answer({ say: 'I wrote it.' }),
    answer({ say: 'hello' }),
  ]);
  const ran = await run(world, process.execPath, [...TSX, copyInto(world.root, 'examples/mcp-client.mts')]);
  expect(ran.err).toBe('');
  const lines = ran.out.split('\n').filter(line => !line.startsWith('...'));
  expect(lines).toEqual([expect.stringMatching(/^asked: /), 'I wrote it.', 'hello', '']);
  expect(world.read('work/hello.txt')).toBe('hello\n');
});
