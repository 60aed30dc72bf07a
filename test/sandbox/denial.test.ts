import { describe, expect, test } from 'vitest';
import type { CommandResult, SandboxPolicy } from '../../src/protocol/index.js';
import { explainDenial, planning, policyEnvironment } from '../../src/sandbox/index.js';
import { workspaceWrite } from '../support/policies.js';
import { entry, exited, FULL, profile, READ_ONLY } from './support.js';

const { isWsl1, platformProblem } = planning;

const explain = (policy: SandboxPolicy, output: string, result: CommandResult = exited(1)) =>
  explainDenial({ policy, result, output });

describe('a failure is put down to the sandbox', () => {
  test.each([
    'touch: cannot touch /x: Read-only file system',
    'bash: /x: Permission denied',
    'mount: Operation not permitted',
    'error: failed to write file',
    'EROFS: read-only file system, open',
    'landlock restricted',
  ])('%s', output => {
    expect(explain(READ_ONLY, output)).toMatch(/^This may come from the sandbox, read-only .*"workspace-write"\.$/);
  });

  test('when the filter ended the program', () => {
    expect(explain(workspaceWrite(), '', exited(159, 'SIGSYS'))).toContain('workspace-write');
  });

  test.each([2, 126, 127])('with the exit code %i only by the words', code => {
    expect(explain(READ_ONLY, 'usage: x', exited(code))).toBeNull();
    expect(explain(READ_ONLY, 'Permission denied', exited(code))).not.toBeNull();
  });

  test.each<[string, SandboxPolicy, CommandResult, string]>([
    ['a success', READ_ONLY, exited(0), 'Permission denied'],
    ['an ordinary failure', READ_ONLY, exited(1), '3 tests failed'],
    ['no sandbox', FULL, exited(1), 'Permission denied'],
    ['a time-out', READ_ONLY, { type: 'timed_out' }, 'Permission denied'],
  ])('but not %s', (_, policy, result, output) => {
    expect(explain(policy, output, result)).toBeNull();
  });
});

describe('the setting that would allow it is named', () => {
  test('for writes', () => {
    expect(explain(workspaceWrite(), 'Read-only file system')).toContain('sandbox_workspace_write.writable_roots');
    expect(explain(profile([]), 'Permission denied')).toContain('permissions.p.filesystem');
  });

  test.each([
    'curl: (6) Could not resolve host: x',
    'getaddrinfo EAI_AGAIN x',
    'connect ENETUNREACH',
    'Network is unreachable',
  ])('for the network: %s', output => {
    expect(explain(workspaceWrite(), output)).toMatch(
      /network is disabled.*sandbox_workspace_write\.network_access = true/,
    );
    expect(explain(READ_ONLY, output)).toMatch(/network is disabled/);
    expect(explain(workspaceWrite({ network_access: true }), output)).toBeNull();
    expect(explain(profile([], { network: { type: 'domains', allow: ['a.b'], deny: [] } }), output)).toContain(
      'restricted to a.b',
    );
  });

  test('for unix sockets', () => {
    const output =
      'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock';
    expect(explain(workspaceWrite(), output)).toContain('sandbox_workspace_write.allow_unix_sockets = true');
  });

  test('and nothing is added where the proxy has spoken', () => {
    const policy = profile([], { network: { type: 'domains', allow: [], deny: [] } });
    expect(
      explain(policy, '[sandbox] Network access to a.b was refused: it is not among the allowed domains.\ncurl: (56)'),
    ).toBeNull();
  });
});

test('variables tell about the policy', () => {
  expect(policyEnvironment(FULL)).toEqual({});
  expect(policyEnvironment(READ_ONLY, 'linux')).toEqual({ CODEX_SANDBOX_NETWORK_DISABLED: '1', TMPDIR: '/dev/shm' });
  expect(policyEnvironment(READ_ONLY, 'darwin')).toEqual({ CODEX_SANDBOX_NETWORK_DISABLED: '1' });
  expect(policyEnvironment(workspaceWrite(), 'linux')).toEqual({ CODEX_SANDBOX_NETWORK_DISABLED: '1' });
  expect(policyEnvironment(workspaceWrite({ network_access: true }), 'linux')).toEqual({});
  expect(policyEnvironment(profile([entry('write', '/w')], { network: { type: 'on' } }), 'linux')).toEqual({});
});

describe('platforms without a sandbox', () => {
  test('Windows is sent to WSL2', () => {
    expect(platformProblem('win32', 'x64')).toEqual({
      cause: 'there is no sandbox for Windows',
      advice: 'run it inside WSL2 (wsl --install), where the Linux sandbox works',
    });
  });

  test('others, and architectures without a filter, are told', () => {
    expect(platformProblem('freebsd', 'x64')?.cause).toBe('there is no sandbox for freebsd');
    expect(platformProblem('linux', 's390x')?.cause).toContain('s390x');
    expect(platformProblem('darwin', 'arm64')).toBeNull();
  });

  test('WSL1 is told from WSL2', () => {
    expect(isWsl1('Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)')).toBe(true);
    expect(isWsl1('Linux version 5.15.90.1-microsoft-standard-WSL2 (oe-user@oe-host)')).toBe(false);
    expect(isWsl1('Linux version 6.1.0 (debian-kernel@lists.debian.org)')).toBe(false);
  });
});
