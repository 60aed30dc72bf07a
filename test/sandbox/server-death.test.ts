import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownIdentity } from '../../src/util/index.js';
import { workspaceWrite } from '../support/policies.js';
import { isAlive, processesWith, uniqueSeconds } from '../support/processes.js';
import { describeIf } from '../support/requires.js';
import { until } from '../support/until.js';
import { startServer } from './server-process.js';
import { FULL, makePlace, openSandbox, type Place } from './support.js';

/** Commands that the register of the only server names. */
function writtenDown(place: Place): number {
  const servers = join(place.stateDir, 'servers');
  const file = join(servers, readdirSync(servers)[0] ?? '', 'processes');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

/** The folder of a server that is no more. */
function leftBehind(place: Place, host: string, processes = ''): string {
  const folder = join(place.stateDir, 'servers', `4000000-1-${host}-abcdef`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'processes'), processes);
  return folder;
}

describe('a server that is killed with SIGKILL', () => {
  test('takes its unsandboxed commands along, with all their descendants', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const server = await startServer(place, FULL, [
      `sleep ${seconds}`,
      `(sleep ${seconds} & sleep ${seconds}; wait) | cat`,
      `setsid sleep ${seconds} & nohup sleep ${seconds} & env -i sleep ${seconds} & wait`,
    ]);
    await until(() => processesWith(`sleep ${seconds}`).length >= 6);
    await until(() => writtenDown(place) === 3);
    await server.kill('SIGKILL');
    await until(() => processesWith(seconds).length === 0);
    await until(() => readdirSync(join(place.stateDir, 'servers')).length === 0);
    await until(() => processesWith(server.state).length === 0);
    expect(processesWith(place.root)).toEqual([]);
  });

  test('leaves nothing that the next server does not end, even if its watchdog was killed first', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const server = await startServer(place, FULL, [`setsid sleep ${seconds} & sleep ${seconds}; true`]);
    await until(() => processesWith(`sleep ${seconds}`).length >= 2);
    for (const pid of processesWith('owner-of-watchdog')) {
      if (processesWith(place.root).includes(pid)) process.kill(Number(pid), 'SIGKILL');
    }
    await server.kill('SIGKILL');
    expect(processesWith(`sleep ${seconds}`).length).toBeGreaterThan(0);
    openSandbox(place);
    await until(() => processesWith(`sleep ${seconds}`).length === 0);
    await until(() => readdirSync(join(place.stateDir, 'servers')).length === 1);
  });

  test('a recycled process number in its register does no harm', async () => {
    const place = makePlace();
    const other = spawn('sleep', [uniqueSeconds()], { detached: true, stdio: 'ignore' });
    onTestFinished(async () => {
      other.kill('SIGKILL');
      await once(other, 'exit');
    });
    const dead = leftBehind(place, ownIdentity().host, `${other.pid} 12345\n`);
    openSandbox(place);
    await until(() => !existsSync(dead));
    expect(isAlive(Number(other.pid))).toBe(true);
  });

  test('on another machine that shares the home, nothing is known about it and nothing removed', async () => {
    const place = makePlace();
    const dead = leftBehind(place, ownIdentity().host);
    const foreign = leftBehind(place, '00000000');
    openSandbox(place);
    await until(() => !existsSync(dead));
    expect(existsSync(foreign)).toBe(true);
  });
});

describeIf('bubblewrap', 'sandboxed commands of a server that is killed', () => {
  test('end with it, and no mount point stays in the workspace', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const server = await startServer(place, workspaceWrite(), [
      `sleep ${seconds}`,
      `setsid sleep ${seconds} & sleep ${seconds}`,
    ]);
    await until(() => processesWith(`sleep ${seconds}`).length >= 3);
    expect(readdirSync(place.ws)).not.toEqual([]);
    await server.kill('SIGKILL');
    await until(() => processesWith(seconds).length === 0);
    await until(() => readdirSync(place.ws).length === 0);
  });

  test('their mount points are removed by the next server when nobody else did', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const server = await startServer(place, workspaceWrite(), [`sleep ${seconds}`]);
    await until(() => processesWith(`sleep ${seconds}`).length >= 1);
    for (const pid of processesWith('owner-of-watchdog')) {
      if (processesWith(place.root).includes(pid)) process.kill(Number(pid), 'SIGKILL');
    }
    await server.kill('SIGKILL');
    expect(readdirSync(place.ws)).not.toEqual([]);
    openSandbox(place);
    await until(() => processesWith(seconds).length === 0);
    await until(() => readdirSync(place.ws).length === 0);
  });

  test('mount points that another server uses stay until that one is done', async () => {
    const place = makePlace();
    const seconds = [uniqueSeconds(), uniqueSeconds()];
    const policy = workspaceWrite();
    const line = (s: string | undefined) =>
      `sleep ${s} & while :; do mkdir -p .git/hooks && echo BROKEN; sleep 0.02; done`;
    const first = await startServer(place, policy, [line(seconds[0])]);
    const second = await startServer(place, policy, [line(seconds[1])]);
    await until(() => seconds.every(s => processesWith(`sleep ${s}`).length > 0));
    await first.kill('SIGKILL');
    await until(() => processesWith(`sleep ${seconds[0]}`).length === 0);
    // Its watchdog makes ten rounds in a second, and must leave what the second one uses in each of them.
    await until(() => processesWith(first.state).length === 0);
    expect(readdirSync(place.ws).toSorted()).toEqual(['.agents', '.codex', '.git', '.openinterpreter']);
    expect(readdirSync(join(place.ws, '.git'))).toEqual([]);
    await second.kill('SIGKILL');
    await until(() => readdirSync(place.ws).length === 0);
    expect([first.output(), second.output()].join('')).not.toContain('BROKEN');
  });
});
