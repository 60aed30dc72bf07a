import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '../../src/protocol/index.js';
import { workspaceWrite } from '../support/policies.js';
import { processesWith, uniqueSeconds } from '../support/processes.js';
import { describeIf } from '../support/requires.js';
import { until } from '../support/until.js';
import { FULL, makePlace, type Place } from './support.js';

/** Starts the command in a process of its own. `extra`: a further descriptor that it inherits. */
function start(place: Place, policy: SandboxPolicy, argv: string[], extra?: number): ChildProcess {
  return spawn(process.execPath, orders(place, policy, argv), {
    stdio: ['pipe', 'pipe', 'pipe', ...(extra === undefined ? [] : [extra])],
  });
}

/** The arguments of Node. */
function orders(place: Place, policy: SandboxPolicy, argv: string[]): string[] {
  const text = JSON.stringify({ home: place.home, cwd: place.ws, policy });
  return ['--import', 'tsx', join(import.meta.dirname, 'fixture-command.ts'), text, ...argv];
}

type Outcome = { code: number | null; stdout: string; stderr: string };

async function finish(child: ChildProcess, input?: string): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

const policies: [string, SandboxPolicy][] = [
  ['without a sandbox', FULL],
  ['in workspace-write', workspaceWrite()],
];

describeIf('bubblewrap', 'interpreter sandbox', () => {
  test.each(policies)('passes input, output and the exit code through, %s', async (_, policy) => {
    const place = makePlace();
    const outcome = await finish(start(place, policy, ['sh', '-c', 'cat; echo $KEPT >&2; exit 5']), 'input');
    expect(outcome).toEqual({ code: 5, stdout: 'input', stderr: 'kept\n' });
    expect(readdirSync(place.ws)).toEqual([]);
    expect(readdirSync(join(place.home, 'sandbox/servers'))).toEqual([]);
  });

  test('keeps every argument as it is', async () => {
    const place = makePlace();
    const words = ['a b', 'c"d', "e'f", 'l1\nl2', 'ünï🎉', '$HOME', '*', '', '-x', '--', '\\'];
    const { stdout } = await finish(start(place, workspaceWrite(), ['printf', '%s|', ...words]));
    expect(stdout).toBe(words.map(word => `${word}|`).join(''));
  });

  test.each(policies)('reports a death by signal as 128 and its number, %s', async (_, policy) => {
    const place = makePlace();
    expect((await finish(start(place, policy, ['bash', '-c', 'kill -KILL $$']))).code).toBe(137);
  });

  test.each(policies)('a signal to it ends the whole tree, %s', async (_, policy) => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const child = start(place, policy, ['bash', '-c', `setsid sleep ${seconds} & echo ready; sleep ${seconds}`]);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGTERM');
    expect((await finish(child)).code).toBe(143);
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect(readdirSync(place.ws)).toEqual([]);
  });

  test.each(policies)('when it is killed, so is the command, %s', async (_, policy) => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const child = start(place, policy, ['bash', '-c', `setsid sleep ${seconds} & echo ready; sleep ${seconds}; true`]);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(() => processesWith(`sleep ${seconds}`).length === 0);
    await until(() => readdirSync(place.ws).length === 0);
    expect(child.signalCode).toBe('SIGKILL');
  });

  test('nothing outlives it, however early it is killed', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const line = `setsid sleep ${seconds} & kill -KILL $PPID; sleep ${seconds}`;
    for (let times = 0; times < 4; times++) {
      const child = start(place, FULL, ['sh', '-c', line]);
      await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');
    }
    await until(() => processesWith(`sleep ${seconds}`).length === 0);
  });

  test('hands on no descriptor that it was started with', async () => {
    const place = makePlace();
    const file = join(place.outside, 'f');
    const fd = openSync(file, 'a');
    await finish(start(place, workspaceWrite(), ['bash', '-c', 'echo pwn >&3'], fd));
    closeSync(fd);
    expect(readFileSync(file, 'utf8')).toBe('');
  });

  test('runs although it was started with a descriptor beyond its limit', async () => {
    const place = makePlace();
    const file = join(place.outside, 'f');
    const command = orders(place, workspaceWrite(), ['bash', '-c', 'echo ran; echo pwn >&900']);
    const limited = ['-c', 'exec 900>>"$0"; ulimit -n 512; exec "$@"', file, process.execPath, ...command];
    const outcome = await finish(spawn('bash', limited));
    expect(outcome).toMatchObject({ code: 1, stdout: 'ran\n' });
    expect(readFileSync(file, 'utf8')).toBe('');
  });
});

describe('interpreter sandbox that runs nothing', () => {
  test('ends with 127 for a command that does not exist', async () => {
    const place = makePlace();
    const outcome = await finish(start(place, FULL, ['no-such-program']));
    expect(outcome).toEqual({ code: 127, stdout: '', stderr: 'no-such-program: command not found.\n' });
  });

  test('ends with 1 and the reason when the policy cannot be enforced', async () => {
    const place = makePlace();
    const policy = workspaceWrite({ writable_roots: ['/proc'] });
    const outcome = await finish(start(place, policy, ['touch', join(place.ws, 'f')]));
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^Cannot enforce sandbox mode workspace-write: .*Nothing was run\./);
    expect(existsSync(join(place.ws, 'f'))).toBe(false);
  });
});
