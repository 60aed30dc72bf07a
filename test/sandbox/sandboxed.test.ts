import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '../../src/protocol/index.js';
import { pathAccess, type Sandbox } from '../../src/sandbox/index.js';
import { workspaceWrite } from '../support/policies.js';
import { processesWith, uniqueSeconds } from '../support/processes.js';
import { describeIf } from '../support/requires.js';
import { until } from '../support/until.js';
import {
  bash,
  entry,
  exited,
  FULL,
  makePlace,
  openSandbox,
  type Place,
  profile,
  type Ran,
  READ_ONLY,
  run,
} from './support.js';

/** Runs one line under a policy, in the workspace. */
function inside(sandbox: Sandbox, place: Place, line: string, policy: SandboxPolicy = workspaceWrite()): Promise<Ran> {
  return run(sandbox, bash(place, line, { policy }));
}

const NAMES = ['.agents', '.codex', '.git', '.openinterpreter'];
const clean = (place: Place, expected: string[] = []) =>
  until(() => readdirSync(place.ws).join() === expected.toSorted().join());

describeIf('bubblewrap', 'a sandboxed command', () => {
  test('has its output, exit code and input, and leaves nothing behind', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const spec = bash(place, 'cat; echo err >&2; exit 7', { policy: workspaceWrite(), stdin: { bytes: 'in' } });
    expect(await run(sandbox, spec)).toEqual({ result: exited(7), stdout: 'in', stderr: 'err\n' });
    expect((await inside(sandbox, place, 'kill -TERM $$')).result).toEqual(exited(143, 'SIGTERM'));
    await sandbox.settled();
    expect(readdirSync(place.ws)).toEqual([]);
    expect(await inside(sandbox, place, 'echo x > f; ls -A')).toMatchObject({ stdout: `${NAMES.join('\n')}\nf\n` });
    await clean(place, ['f']);
  });

  test('reads everything and writes nothing in read-only', async () => {
    const place = makePlace();
    const line = 'cat /etc/passwd | grep -c ^root; touch f /tmp/oi-f || cat <<< "$TMPDIR"';
    const ran = await inside(openSandbox(place), place, line, READ_ONLY);
    expect(ran).toMatchObject({ result: exited(0), stdout: '1\n/dev/shm\n' });
    expect(readdirSync(place.ws)).toEqual([]);
  });

  test('has no capabilities, no other processes, and a filter', async () => {
    const place = makePlace();
    const line = "grep -E '^(CapEff|CapBnd|Seccomp):' /proc/self/status; ls -d /proc/[0-9]* | wc -l";
    const { stdout } = await inside(openSandbox(place), place, line);
    expect(stdout).toMatch(/^CapEff:\t0+\nCapBnd:\t0+\nSeccomp:\t2\n[3-6]\n$/);
  });

  test('cannot make namespaces or mounts', async () => {
    const place = makePlace();
    const attempts = ['unshare -U true', 'mount -o remount,bind,rw /', 'umount .git', 'bwrap --bind / / true'];
    const line = attempts
      .map(attempt => `if ${attempt} 2>/dev/null; then echo REACHED; else echo refused; fi`)
      .join('\n');
    expect((await inside(openSandbox(place), place, line)).stdout).toBe('refused\n'.repeat(4));
  });

  test('sees no descriptor of ours, and none of the terminals of others', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const terminal = await sandbox.start(bash(place, 'sleep 60', { tty: { cols: 80, rows: 24 } }));
    const own = readdirSync('/proc/self/fd').map(fd => safeReadlink(`/proc/self/fd/${fd}`));
    expect(own).toContain('/dev/ptmx');
    const line = 'for f in /proc/self/fd/*; do readlink $f; done';
    for (const spec of [
      bash(place, line, { policy: workspaceWrite() }),
      bash(place, line),
      bash(place, line, { tty: { cols: 80, rows: 24 } }),
    ]) {
      expect((await run(sandbox, spec)).stdout).not.toContain('ptmx');
    }
    if (!('type' in terminal)) terminal.kill('aborted', 0);
  });

  test('runs on a terminal of its own', async () => {
    const place = makePlace();
    const spec = bash(place, 'test -t 0 && stty size; touch .git/x; exit 3', {
      policy: workspaceWrite(),
      tty: { cols: 91, rows: 17 },
    });
    const ran = await run(openSandbox(place), spec);
    expect(ran.result).toEqual(exited(3));
    expect(ran.stdout).toMatch(/^17 91\r\ntouch: .*Permission denied\r\n$/);
  });

  test('is given time to end, and takes everything with it', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const line = `setsid sleep ${seconds} & trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
    const command = await openSandbox(place).start(bash(place, line, { policy: workspaceWrite() }));
    if ('type' in command) throw new Error(command.message);
    let output = '';
    command.onOutput(chunk => {
      output += chunk;
    });
    await until(() => output === 'ready\n');
    command.kill('timed_out', 5000);
    expect(await command.ended).toEqual({ type: 'timed_out' });
    expect(output).toContain('bye');
    expect(processesWith(seconds)).toEqual([]);
  });

  test('ends when bubblewrap is killed', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const seconds = uniqueSeconds();
    const command = await sandbox.start(
      bash(place, `setsid sleep ${seconds} & sleep ${seconds}`, { policy: workspaceWrite() }),
    );
    if ('type' in command) throw new Error(command.message);
    await until(() => processesWith(`sleep ${seconds}`).length >= 3);
    process.kill(command.pid, 'SIGKILL');
    expect(await command.ended).toEqual(exited(137, 'SIGKILL'));
    await until(() => processesWith(seconds).length === 0);
    await sandbox.settled();
    expect(readdirSync(place.ws)).toEqual([]);
  });

  test('ends also when bubblewrap is killed while it starts', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const seconds = uniqueSeconds();
    const spec = bash(place, `setsid sleep ${seconds} & sleep ${seconds}`, { policy: workspaceWrite() });
    for (let processes = 1; processes <= 4; processes++) {
      const command = await sandbox.start(spec);
      if ('type' in command) throw new Error(command.message);
      // Bubblewrap, its child, the shell, and so on: later each time.
      await until(() => processesWith(seconds).length >= processes);
      process.kill(command.pid, 'SIGKILL');
      expect(await command.ended).toEqual(exited(137, 'SIGKILL'));
      await until(() => processesWith(seconds).length === 0);
    }
  });

  test('does not leave processes in the background', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const ran = await inside(openSandbox(place), place, `setsid sleep ${seconds} & sleep ${seconds} & echo hi`);
    expect(ran).toMatchObject({ result: exited(0), stdout: 'hi\n' });
    await until(() => processesWith(seconds).length === 0);
  });

  test('that cannot be found inside is told as missing', async () => {
    const place = makePlace();
    const program = join(place.outside, 'tool');
    writeFileSync(program, '#!/no/such/interpreter\n', { mode: 0o755 });
    const ran = await run(openSandbox(place), bash(place, '', { argv: [program], policy: workspaceWrite() }));
    expect(ran.result).toMatchObject({ type: 'not_started', reason: 'missing' });
  });
});

describeIf('bubblewrap', 'protected names', () => {
  test.each(NAMES)('%s: what is there cannot be changed, replaced or moved', async name => {
    const place = makePlace();
    const folder = join(place.ws, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'f'), 'original');
    const line = `echo pwn > ${name}/f; echo pwn > ${name}/g; mv ${name} x; rm -rf ${name}; mkdir n; mv -T n ${name}; ln -sfn /tmp ${name}; chmod 777 ${name}; true`;
    await inside(openSandbox(place), place, line);
    expect([readdirSync(folder), readFileSync(join(folder, 'f'), 'utf8')]).toEqual([['f'], 'original']);
  });

  test.each(NAMES)('%s: what is not there cannot be made', async name => {
    const place = makePlace();
    const line = `mkdir -p ${name}/x; echo pwn > ${name}/f; rmdir ${name}; ln -sT /tmp ${name}; echo pwn > ${name}; true`;
    const ran = await inside(openSandbox(place), place, line);
    expect(ran.stderr).toContain('Permission denied');
    await clean(place);
  });

  test('an empty folder that the person made is protected and stays', async () => {
    const place = makePlace();
    mkdirSync(join(place.ws, '.agents'));
    const sandbox = openSandbox(place);
    await inside(sandbox, place, 'echo x > .agents/f');
    await sandbox.close();
    expect([readdirSync(place.ws), readdirSync(join(place.ws, '.agents'))]).toEqual([['.agents'], []]);
  });

  test('a link in the place of one is a reason not to run', async () => {
    const place = makePlace();
    symlinkSync(place.outside, join(place.ws, '.codex'));
    const { result } = await inside(openSandbox(place), place, 'touch f');
    expect(result).toEqual({
      type: 'not_started',
      reason: 'sandbox',
      message: `Cannot enforce sandbox mode workspace-write: cannot keep ${place.ws}/.codex read-only: it is a symlink in a writable directory. Replace the link by a real directory, or run with approval. Nothing was run. Fix: change the folder or the configuration as said. Or choose --sandbox danger-full-access inside a container or VM you trust.`,
    });
    expect(readdirSync(place.ws)).toEqual(['.codex']);
  });

  test('neither a workspace nor the folders above it can be moved out of the way', async () => {
    const place = makePlace();
    const deep = join(place.outside, 'a/b/ws');
    mkdirSync(deep, { recursive: true });
    const policy = workspaceWrite({ writable_roots: [place.outside] });
    const line = `cd ${place.outside}; mv a x; mv a/b x; mv a/b/ws x; rm -rf a; mkdir -p a/b/ws/.git; echo pwn > a/b/ws/.git/config; true`;
    await run(openSandbox(place), bash(place, line, { policy, workspace: deep }));
    await until(() => readdirSync(deep).length === 0);
    expect(existsSync(join(deep, '.git'))).toBe(false);
  });

  test("the agent's home cannot be written inside a writable folder", async () => {
    const place = makePlace();
    const policy = workspaceWrite({ writable_roots: [place.root] });
    const ran = await inside(
      openSandbox(place),
      place,
      `echo x > ${place.home}/config.toml; echo x > ${place.root}/ok`,
      policy,
    );
    expect(ran.stderr).toContain('Read-only file system');
    expect([existsSync(join(place.home, 'config.toml')), existsSync(join(place.root, 'ok'))]).toEqual([false, true]);
  });

  test('a workspace that has become a link to another folder is refused', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    await inside(sandbox, place, 'true');
    await clean(place);
    renameSync(place.ws, join(place.root, 'old'));
    symlinkSync('outside', place.ws);
    const { result } = await inside(sandbox, place, 'touch f');
    expect(result).toMatchObject({
      type: 'not_started',
      reason: 'sandbox',
      message: /was .*\/ws before and now leads to .*\/outside/,
    });
    expect(readdirSync(place.outside)).toEqual([]);
  });
});

describeIf('bubblewrap', 'the mounts and the rules for patches', () => {
  const folders = [
    'ws',
    'ws/src',
    'ws/.git',
    'ws/.git/hooks',
    'ws/docs',
    'ws/docs/tmp',
    'outside',
    'outside/.git',
    'home',
    'ws/secret',
  ];

  test.each<[string, (place: Place) => SandboxPolicy]>([
    ['read-only', () => READ_ONLY],
    ['workspace-write', () => workspaceWrite()],
    ['a further root', place => workspaceWrite({ writable_roots: [place.outside] })],
    ['a root above everything', place => workspaceWrite({ writable_roots: [place.root] })],
    ['a root inside .git', place => workspaceWrite({ writable_roots: [join(place.ws, '.git/hooks')] })],
    [
      'a profile',
      place =>
        profile([
          entry('read', '/'),
          entry('write', place.ws),
          entry('read', join(place.ws, 'docs')),
          entry('write', join(place.ws, 'docs/tmp')),
          entry('deny', join(place.ws, 'secret')),
          entry('write', join(place.ws, '.git/hooks')),
        ]),
    ],
  ])('agree: %s', async (_, policyOf) => {
    const place = makePlace();
    for (const folder of folders) mkdirSync(join(place.root, folder), { recursive: true });
    for (const folder of folders) writeFileSync(join(place.root, folder, 'f'), '');
    const policy = policyOf(place);
    const line = folders
      .map(
        folder =>
          `d=${place.root}/${folder}; if (: > $d/probe) 2>/dev/null; then echo write; elif cat $d/f 2>/dev/null; then echo read; else echo deny; fi`,
      )
      .join('\n');
    const { result, stdout } = await inside(openSandbox(place), place, line, policy);
    expect(result).toEqual(exited(0));
    const facts = { cwd: place.ws, home: place.home, tmpdir: null };
    const expected = folders.map(folder => pathAccess(policy, facts, join(place.root, folder, 'probe')).access);
    expect(stdout.split('\n').slice(0, -1)).toEqual(expected);
  });
});

describeIf('bubblewrap', 'denied reads', () => {
  test('hold for files, folders and globs, also against chmod, renames and links', async () => {
    const place = makePlace();
    mkdirSync(join(place.ws, 'deep/er'), { recursive: true });
    mkdirSync(join(place.outside, 'keys'));
    const secrets = ['ws/.env', 'ws/deep/er/prod.env', 'outside/keys/id'];
    for (const secret of secrets) writeFileSync(join(place.root, secret), 'TOPSECRET');
    writeFileSync(join(place.ws, 'plain'), 'plain');
    const policy = profile([
      entry('read', '/'),
      entry('write', place.ws),
      entry('deny', join(place.outside, 'keys')),
      { access: 'deny', target: { base: place.ws, glob: '**/*.env' } },
    ]);
    const keys = join(place.outside, 'keys');
    const line = `chmod 777 .env ${keys}; cat .env deep/er/prod.env ${keys}/id; mv .env e; mv deep d; mv deep/er er; cp .env c; ln .env l; cat e c l d/er/prod.env er/prod.env; ls ${keys}; cat plain; echo x > .env; echo x > new`;
    const ran = await inside(openSandbox(place), place, line, policy);
    expect(ran.stdout).toBe('plain');
    expect(ran.stderr).not.toContain('TOPSECRET');
    for (const secret of secrets) expect(readFileSync(join(place.root, secret), 'utf8')).toBe('TOPSECRET');
    expect(existsSync(join(place.ws, 'new'))).toBe(true);
  });

  test('of many files make a plan that is too long for a command line', async () => {
    const place = makePlace();
    for (let i = 0; i < 900; i++) writeFileSync(join(place.ws, `${'n'.repeat(60)}${i}.env`), 'TOPSECRET');
    const policy = profile([
      entry('read', '/'),
      entry('write', place.ws),
      { access: 'deny', target: { base: place.ws, glob: '*.env' } },
    ]);
    const ran = await inside(openSandbox(place), place, 'cat *.env | wc -c', policy);
    expect(ran).toMatchObject({ result: exited(0), stdout: '0\n' });
  });

  test('a glob that covers too much is a reason not to run', async () => {
    const place = makePlace();
    for (let i = 0; i < 1001; i++) writeFileSync(join(place.ws, `${i}.env`), '');
    const policy = profile([entry('read', '/'), { access: 'deny', target: { base: place.ws, glob: '*.env' } }]);
    expect((await inside(openSandbox(place), place, 'true', policy)).result).toMatchObject({
      type: 'not_started',
      message: /the pattern .*\*\.env covers too many files/,
    });
  });

  test('a profile that does not name the root folder shows what it names and nothing else', async () => {
    const place = makePlace();
    writeFileSync(join(place.outside, 'f'), 'hidden');
    const system = ['/usr', '/bin', '/lib', '/lib64', '/etc'].map(path => entry('read', path));
    const policy = profile([...system, entry('write', place.ws)]);
    const ran = await inside(
      openSandbox(place),
      place,
      `echo x > f; cat f; cat ${place.outside}/f; touch /x; ls ${place.root}`,
      policy,
    );
    expect(ran).toMatchObject({ result: exited(0), stdout: 'x\nws\n' });
    expect(ran.stderr).toMatch(/No such file[^]*Read-only file system/);
  });
});

describeIf('bubblewrap', 'the network', () => {
  const connect = (port: number) => `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;

  async function listening(
    where: { port: number; host: string } | string,
  ): Promise<{ port: number; hits: () => number; close: () => void }> {
    let hits = 0;
    const server = createServer(socket => {
      hits++;
      socket.end('banner\n');
    });
    await new Promise<void>(resolve => server.listen(where as string, resolve));
    const address = server.address();
    return {
      port: typeof address === 'object' && address ? address.port : 0,
      hits: () => hits,
      close: () => server.close(),
    };
  }

  test('is closed, but for servers inside; it can be opened', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const server = await listening({ port: 0, host: '127.0.0.1' });
    const off = await inside(sandbox, place, `echo $CODEX_SANDBOX_NETWORK_DISABLED; ${connect(server.port)}`);
    expect([off.stdout, server.hits()]).toEqual(['1\n', 0]);
    const node = `const s = require('net').createServer(c => c.end('own')).listen(0, '127.0.0.1', () => require('net').connect(s.address().port, '127.0.0.1').on('data', d => { console.log(String(d)); process.exit(); }))`;
    const own = await run(sandbox, bash(place, '', { argv: [process.execPath, '-e', node], policy: workspaceWrite() }));
    expect(own).toEqual({ result: exited(0), stdout: 'own\n', stderr: '' });
    const on = await inside(sandbox, place, connect(server.port), workspaceWrite({ network_access: true }));
    expect([on.stdout, server.hits()]).toEqual(['banner\n', 1]);
    server.close();
  });

  test('never leads to unix sockets, unless they are allowed', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const path = join(place.outside, 's.sock');
    const server = await listening(path);
    const node = `require('net').connect(${JSON.stringify(path)}).on('data', d => console.log(String(d).trim())).on('error', e => console.log(e.code))`;
    const connecting = (policy: SandboxPolicy) =>
      run(sandbox, bash(place, '', { argv: [process.execPath, '-e', node], policy }));
    expect((await connecting(workspaceWrite())).stdout).toBe('EPERM\n');
    expect((await connecting(workspaceWrite({ network_access: true }))).stdout).toBe('EPERM\n');
    expect((await connecting(workspaceWrite({ allow_unix_sockets: true }))).stdout).toBe('banner\n');
    server.close();
  });

  test.skipIf(!existsSync('/usr/bin/perl'))(
    'pairs of datagram sockets, which could send to any path, cannot be made',
    async () => {
      const place = makePlace();
      const perl =
        'use Socket; for (SOCK_STREAM, SOCK_DGRAM, SOCK_RAW) { print socketpair(A, B, AF_UNIX, $_, 0) ? "made\\n" : "$!\\n" }';
      const ran = await run(
        openSandbox(place),
        bash(place, '', { argv: ['/usr/bin/perl', '-e', perl], policy: workspaceWrite() }),
      );
      expect(ran.stdout).toBe('made\nOperation not permitted\nOperation not permitted\n');
    },
  );
});

describeIf('bubblewrap', 'many commands in one workspace', () => {
  test('32 at once, from two servers with different homes: protection is never lost, nothing stays', async () => {
    const place = makePlace();
    const sandboxes = [
      openSandbox(place),
      openSandbox(place, { home: place.outside, stateDir: join(place.outside, 'sandbox') }),
    ];
    const line =
      'for i in 1 2 3 4 5 6 7 8; do mkdir -p .git/hooks .codex/x .agents/x 2>/dev/null && echo BROKEN; done; echo done';
    const commands = Array.from({ length: 32 }, (_, i) => inside(sandboxes[i % 2] as Sandbox, place, line));
    const ran = await Promise.all(commands);
    expect(ran.map(r => r.stdout)).toEqual(ran.map(() => 'done\n'));
    await Promise.all(sandboxes.map(sandbox => sandbox.close()));
    expect(readdirSync(place.ws)).toEqual([]);
  });
});

describe('a sandbox that cannot be made', () => {
  /** A folder with a fake bubblewrap. */
  function fakeBwrap(place: Place, folder: string, script: string): string {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return folder;
  }

  test.runIf(process.platform === 'linux').each([
    ['setting up uid map: Permission denied', /AppArmor/],
    [
      'No permissions to create new namespace, likely because the kernel does not allow it',
      /--security-opt seccomp=unconfined/,
    ],
    [
      'Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      /user\.max_user_namespaces/,
    ],
    ["Can't mount proc on /newroot/proc: Operation not permitted", /systempaths=unconfined/],
    ['Unknown option --perms', /0\.5 or newer/],
    ['something new', /interpreter doctor/],
  ])('bwrap: %s', async (stderr, advice) => {
    const place = makePlace();
    const path = fakeBwrap(place, join(place.root, 'bin'), `echo "bwrap: ${stderr}" >&2; exit 1`);
    const sandbox = openSandbox(place, { env: { PATH: `${path}:/usr/bin:/bin` } });
    const ran = await inside(sandbox, place, `touch ${place.ws}/ran`);
    expect(ran.result).toMatchObject({ type: 'not_started', reason: 'sandbox' });
    const message = 'message' in ran.result ? ran.result.message : '';
    expect(message).toMatch(
      /^Cannot enforce sandbox mode workspace-write: .*Nothing was run\. Fix: .*Or choose --sandbox danger-full-access inside a container or VM you trust\.$/,
    );
    expect(message).toMatch(advice);
    expect(message).toContain(stderr.slice(0, 30));
    expect(await sandbox.check(workspaceWrite(), place.ws)).toEqual({ ok: false, message });
    await clean(place);
  });

  test.runIf(process.platform === 'linux')('without bubblewrap the message tells how to get it', async () => {
    const place = makePlace();
    const bin = join(place.root, 'bin');
    mkdirSync(bin);
    symlinkSync('/usr/bin/mkfifo', join(bin, 'mkfifo'));
    const ran = await inside(openSandbox(place, { env: { PATH: bin } }), place, 'true');
    expect(ran.result).toMatchObject({ message: /bubblewrap \(bwrap\) was not found.*apt-get install bubblewrap/ });
  });

  test.runIf(process.platform === 'linux')('a bwrap that the workspace brings along is never run', async () => {
    const place = makePlace();
    const path = fakeBwrap(place, join(place.ws, 'bin'), `touch ${place.outside}/ran`);
    for (const policy of [workspaceWrite(), READ_ONLY]) {
      const ran = await inside(openSandbox(place, { env: { PATH: path } }), place, 'true', policy);
      expect(ran.result).toMatchObject({ type: 'not_started', message: /can't be trusted as bwrap/ });
    }
    expect(readdirSync(place.outside)).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
    'a full disk is told, and nothing stays',
    async () => {
      const place = makePlace();
      mkdirSync(place.stateDir);
      execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64k', 'full', place.stateDir]);
      try {
        const sandbox = openSandbox(place);
        expect((await inside(sandbox, place, 'echo 1')).stdout).toBe('1\n');
        await sandbox.settled();
        writeUntilFull(join(place.stateDir, 'ballast'));
        expect((await inside(sandbox, place, `echo x > ${place.ws}/ran`)).result).toMatchObject({
          type: 'not_started',
          message: /ENOSPC.*make room on the disk/,
        });
        expect(readdirSync(place.ws)).toEqual([]);
        expect((await run(sandbox, bash(place, 'echo 2', { policy: FULL }))).stdout).toBe('2\n');
        rmSync(join(place.stateDir, 'ballast'));
        expect((await inside(sandbox, place, 'echo 3')).stdout).toBe('3\n');
        await sandbox.close();
        expect(readdirSync(place.ws)).toEqual([]);
      } finally {
        execFileSync('/bin/umount', ['-l', place.stateDir]);
      }
    },
  );

  test('when its state cannot be written, commands only run without one', async () => {
    const place = makePlace();
    writeFileSync(join(place.root, 'file'), '');
    const messages: string[] = [];
    const sandbox = openSandbox(place, { stateDir: join(place.root, 'file/sandbox'), warn: m => messages.push(m) });
    expect((await inside(sandbox, place, 'true')).result).toMatchObject({ message: /file\/sandbox can't be written/ });
    expect(await run(sandbox, bash(place, 'echo hi', { policy: FULL }))).toMatchObject({
      result: exited(0),
      stdout: 'hi\n',
    });
    expect(messages).toHaveLength(1);
  });
});

describeIf('bubblewrap', 'check', () => {
  test('tells that everything works', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    expect(await sandbox.check(workspaceWrite(), place.ws)).toEqual({ ok: true });
    expect(await sandbox.check(FULL, place.ws)).toEqual({ ok: true });
  });
});

describeIf('git', 'git in a sandbox', () => {
  test.skipIf(!existsSync('/usr/bin/bwrap'))('finds the repository above the workspace', async () => {
    const place = makePlace();
    execFileSync('git', ['init', '-q'], { cwd: place.root });
    const ran = await inside(openSandbox(place), place, 'git rev-parse --show-toplevel');
    expect(ran.stdout).toBe(`${place.root}\n`);
    rmSync(join(place.root, '.git'), { recursive: true });
  });
});

function writeUntilFull(file: string): void {
  for (let size = 4096; size > 0; size = Math.floor(size / 2)) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch {
      // No more of this size.
    }
  }
}

function safeReadlink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor of the listing itself.
    return '';
  }
}
