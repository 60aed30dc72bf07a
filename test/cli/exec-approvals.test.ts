/** `exec --approvals-fd`: questions and answers as JSON lines. */
import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import type { ApprovalRequest, JsonlEvent } from '../../src/protocol/index.js';
import { ExecWorld, PROGRAM } from '../support/exec-world.js';
import { type AnswerStep, answer } from '../support/scripted-answers.js';

const ESCALATED = { sandbox_permissions: 'require_escalated', justification: 'because' };
const write = (file: string): AnswerStep => ({ shell: `echo x > ${file}`, args: ESCALATED });

type Reply = (request: ApprovalRequest) => unknown;

/** A run that answers each question with the lines `reply` gives (objects as JSON, texts as they are). */
async function run(world: ExecWorld, reply: Reply, flags: readonly string[] = []) {
  const args = ['exec', '--json', '--skip-git-repo-check', '-s', 'read-only', '--approvals-fd', '3', ...flags, 'hi'];
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: world.cwd,
    env: world.env(),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const channel = child.stdio[3] as Duplex;
  const requests: ApprovalRequest[] = [];
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  channel.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.trim().split('\n')) {
      const request = JSON.parse(line) as ApprovalRequest;
      requests.push(request);
      const answered = reply(request);
      if (answered === 'close') channel.destroy();
      else channel.write(typeof answered === 'string' ? `${answered}\n` : `${JSON.stringify(answered)}\n`);
    }
  });
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  const events = out.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as JsonlEvent]));
  return { code, err, events, requests };
}

const outcome = (world: ExecWorld) => {
  const input = world.server.requests.at(-1)?.body['input'] as { type: string; output?: string }[];
  return input.findLast(item => item.type === 'function_call_output')?.output;
};

test('the request holds all that a decision needs, and an approval runs the command', async () => {
  const world = await ExecWorld.create([answer(write('yes.txt')), answer({ say: 'ok' })]);
  const { code, requests } = await run(world, ({ id }) => ({ id, decision: { type: 'approved', note: 'well done' } }));
  expect(requests).toEqual([
    {
      type: 'command',
      id: expect.any(String),
      thread_id: expect.any(String),
      turn_id: expect.any(String),
      call_id: expect.any(String),
      reason: 'because',
      command: ['/bin/bash', '-c', 'echo x > yes.txt'],
      cwd: world.cwd,
      parsed: [{ type: 'unknown', cmd: 'echo x > yes.txt' }],
      unsandboxed: true,
      proposed_rule: ['/bin/bash', '-c', 'echo x > yes.txt'],
    },
  ]);
  expect(world.read('work/yes.txt')).toBe('x\n');
  expect(outcome(world)).toContain('well done');
  expect(code).toBe(0);
});

test('a name is an answer, and an approval for the thread holds for the next call', async () => {
  const world = await ExecWorld.create([answer(write('a.txt')), answer(write('a.txt')), answer({ say: 'ok' })]);
  const { requests } = await run(world, ({ id }) => ({ id, decision: 'approved_for_thread' }));
  expect(requests).toHaveLength(1);
});

test.each<[string, Reply, RegExp]>([
  ['denied', ({ id }) => ({ id, decision: 'denied' }), /client declined/],
  [
    'denied by a person, with a reason',
    ({ id }) => ({ id, decision: { type: 'denied', by: 'person', reason: 'not today' } }),
    /denied by the person who was asked: not today/,
  ],
  ['something unknown', ({ id }) => ({ id, decision: 'perhaps' }), /not understood/],
  ['the closing of the channel', () => 'close', /channel is closed/],
  [
    'no JSON, then a no',
    ({ id }) => `nonsense\n{"id":"x","decision":"approved"}\n{"id":"${id}","decision":"denied"}`,
    /client declined/,
  ],
])('%s is a no, and the turn goes on', async (_, reply, told) => {
  const world = await ExecWorld.create([answer(write('no.txt')), answer({ say: 'ok' })]);
  const { code } = await run(world, reply);
  expect(outcome(world)).toMatch(told);
  expect(() => world.read('work/no.txt')).toThrow('ENOENT');
  expect(code).toBe(0);
});

test('abort ends the turn', async () => {
  const world = await ExecWorld.create([answer(write('no.txt')), answer({ say: 'ok' })]);
  const { code, events } = await run(world, ({ id }) => ({ id, decision: 'abort' }));
  expect(code).toBe(1);
  expect(events.at(-1)).toEqual({ type: 'turn.failed', error: { message: 'interrupted' } });
});

test('no answer within the limit is a no', async () => {
  const world = await ExecWorld.create([answer(write('no.txt')), answer({ say: 'ok' })]);
  const { code } = await run(world, () => '', ['-c', 'mcp_server.approval_timeout_sec=1']);
  expect(outcome(world)).toContain('nobody answered the approval request in time');
  expect(code).toBe(0);
});

test('the configured policy holds: never asks nobody, also over a channel', async () => {
  const world = await ExecWorld.create([answer(write('no.txt')), answer({ say: 'ok' })], 'approval_policy = "never"\n');
  const { requests } = await run(world, ({ id }) => ({ id, decision: 'approved' }));
  expect(requests).toEqual([]);
});

test('commands do not get the descriptor', async () => {
  const world = await ExecWorld.create([
    answer({ shell: 'ls -l /proc/self/fd > fds.txt', args: ESCALATED }),
    answer({ say: 'ok' }),
  ]);
  await run(world, ({ id }) => ({ id, decision: 'approved' }));
  expect(world.read('work/fds.txt')).not.toContain('socket:');
});
