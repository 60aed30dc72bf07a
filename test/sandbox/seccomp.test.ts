import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { seccomp } from '../../src/sandbox/index.js';
import { interpret } from './bpf-interpreter.js';

const { ACTION, AUDIT_ARCH, filterProgram, jumpEqual, load, OP, ret, SYSCALLS, seccompFilter, verify } = seccomp;
type Architecture = seccomp.Architecture;
type SyscallName = seccomp.SyscallName;

const ARCHITECTURES: Architecture[] = ['x64', 'arm64'];
const EPERM = ACTION.errno(1);
const ENOSYS = ACTION.errno(38);
const { allow, killProcess } = ACTION;
const AUDIT_ARCH_I386 = 0x40000003;
const AUDIT_ARCH_ARM = 0x40000028;

/** The action for a call by name; null when the architecture does not have it. */
function act(architecture: Architecture, name: SyscallName, args: (number | bigint)[] = [], unixSockets = false) {
  const number = SYSCALLS[name][architecture];
  if (number === null) return null;
  const program = filterProgram({ architecture, unixSockets });
  return interpret(program, { arch: AUDIT_ARCH[architecture], number, args: args.map(BigInt) });
}

describe.each(ARCHITECTURES)('the system-call filter on %s', architecture => {
  test('passes the checks of the kernel, in both variants', () => {
    for (const unixSockets of [false, true]) expect(verify(filterProgram({ architecture, unixSockets }))).toBeNull();
  });

  test('is the program that was reviewed', () => {
    const hashes = [false, true].map(unixSockets =>
      createHash('sha256').update(seccompFilter({ architecture, unixSockets })).digest('hex'),
    );
    expect(hashes).toEqual(GOLDEN[architecture]);
  });

  test('kills a process that calls by another architecture', () => {
    for (const arch of [AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH[architecture === 'x64' ? 'arm64' : 'x64'], 0]) {
      expect(interpret(filterProgram({ architecture, unixSockets: true }), { arch, number: 1 })).toBe(
        killProcess >>> 0,
      );
    }
  });

  test('refuses what could undo the sandbox, whatever the arguments', () => {
    const names = [
      'ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd io_uring_setup io_uring_enter io_uring_register',
      'bpf perf_event_open userfaultfd add_key request_key keyctl mount umount2',
      'pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr',
      'open_tree_attr setns open_by_handle_at kexec_load kexec_file_load create_module init_module finit_module',
      'delete_module reboot swapon swapoff acct syslog quotactl quotactl_fd',
      'iopl ioperm',
    ].flatMap(line => line.split(' ')) as SyscallName[];
    for (const name of names)
      expect([name, act(architecture, name)]).toEqual([name, SYSCALLS[name][architecture] === null ? null : EPERM]);
  });

  test('pretends that calls with arguments in memory do not exist', () => {
    expect([act(architecture, 'clone3'), act(architecture, 'openat2')]).toEqual([ENOSYS, ENOSYS]);
  });

  test('lets processes and threads be made, but no namespaces', () => {
    const thread = 0x3d0f00;
    expect(act(architecture, 'clone', [17])).toBe(allow);
    expect(act(architecture, 'clone', [thread])).toBe(allow);
    // The exit signal is in the bits of CLONE_NEWTIME.
    expect(act(architecture, 'clone', [0x80 | 17])).toBe(allow);
    for (const flag of [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(act(architecture, 'clone', [flag | 17])).toBe(EPERM);
      expect(act(architecture, 'unshare', [flag])).toBe(EPERM);
    }
    expect(act(architecture, 'unshare', [0x80])).toBe(EPERM);
    expect(act(architecture, 'unshare', [0x400])).toBe(allow);
  });

  test('refuses to type into a terminal, also with high bits set', () => {
    expect(act(architecture, 'ioctl', [0, 0x5412])).toBe(EPERM);
    expect(act(architecture, 'ioctl', [0, (1n << 32n) | 0x5412n])).toBe(EPERM);
    expect(act(architecture, 'ioctl', [0, 0x541c])).toBe(EPERM);
    expect(act(architecture, 'ioctl', [0, 0x5413])).toBe(allow);
  });

  test('refuses set-user-id files, and looks at the mode only where it counts', () => {
    const create = 0x41;
    const temporary = 0x410002;
    const cases: [SyscallName, number[], number][] = [
      ['chmod', [0, 0o4755], EPERM],
      ['chmod', [0, 0o2755], allow],
      ['fchmod', [3, 0o4755], EPERM],
      ['fchmod', [3, 0o755], allow],
      ['fchmodat', [0, 0, 0o6755], EPERM],
      ['fchmodat', [0, 0, 0o755], allow],
      ['fchmodat2', [0, 0, 0o4000], EPERM],
      ['creat', [0, 0o4755], EPERM],
      ['creat', [0, 0o644], allow],
      ['mknod', [0, 0o104755], EPERM],
      ['mknodat', [0, 0, 0o104755], EPERM],
      ['mknodat', [0, 0, 0o10644], allow],
      ['open', [0, create, 0o4755], EPERM],
      ['open', [0, create, 0o644], allow],
      ['open', [0, 0, 0o4755], allow],
      ['openat', [0, 0, create, 0o4755], EPERM],
      ['openat', [0, 0, temporary, 0o4755], EPERM],
      ['openat', [0, 0, 0, 0o4755], allow],
      ['openat', [0, 0, create, 0o644], allow],
    ];
    for (const [name, args, action] of cases) {
      const expected = SYSCALLS[name][architecture] === null ? null : action;
      expect([name, args, act(architecture, name, args)]).toEqual([name, args, expected]);
    }
  });

  test('allows internet sockets and interface lists, no other family', () => {
    const cases: [(number | bigint)[], number][] = [
      [[2, 1, 0], allow],
      [[10, 2, 17], allow],
      [[16, 3, 0], allow],
      [[16, 3, 12], EPERM],
      [[16, 3, 1n << 32n], allow],
      [[1, 1, 0], EPERM],
      // The kernel looks at the low half only.
      [[(1n << 32n) | 1n, 1, 0], EPERM],
      [[(1n << 32n) | 2n, 1, 0], allow],
      ...[17, 29, 31, 38, 40, 44].map((family): [number[], number] => [[family, 3, 0], EPERM]),
    ];
    for (const [args, action] of cases) expect([args, act(architecture, 'socket', args)]).toEqual([args, action]);
  });

  test('allows unix sockets when asked to', () => {
    expect(act(architecture, 'socket', [1, 1, 0], true)).toBe(allow);
    expect(act(architecture, 'socketpair', [1, 2, 0], true)).toBe(allow);
    expect(act(architecture, 'socket', [40, 1, 0], true)).toBe(EPERM);
  });

  test('allows connected pairs of sockets, but none that can send to a path', () => {
    const cloexec = 0o2000000;
    expect(act(architecture, 'socketpair', [1, 1 | cloexec, 0])).toBe(allow);
    expect(act(architecture, 'socketpair', [1, 5, 0])).toBe(allow);
    expect(act(architecture, 'socketpair', [1, 2 | cloexec, 0])).toBe(EPERM);
    expect(act(architecture, 'socketpair', [1, 3, 0])).toBe(EPERM);
    expect(act(architecture, 'socketpair', [1, (1n << 32n) | 2n, 0])).toBe(EPERM);
  });
});

test('calls of the x32 table do not exist on x64', () => {
  const program = filterProgram({ architecture: 'x64', unixSockets: false });
  for (const number of [1, 41, 165, -1]) {
    expect(interpret(program, { arch: AUDIT_ARCH.x64, number: number | 0x40000000 })).toBe(ENOSYS);
  }
});

test('no number stands for two calls', () => {
  for (const architecture of ARCHITECTURES) {
    const numbers = Object.values(SYSCALLS).flatMap(n => n[architecture] ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
});

describe('the verifier', () => {
  test.each([
    ['an empty program', [], 'a program of 0 instructions'],
    ['no return at the end', [load(0)], 'the last instruction is no return'],
    ['a load that is not aligned', [load(2), ret(0)], 'instruction 0: load at 2'],
    ['a load behind the data', [load(64), ret(0)], 'instruction 0: load at 64'],
    ['a jump behind the end', [jumpEqual(1, 1, 0), ret(0)], 'instruction 0: a jump behind the end'],
    ['a jump that is too far', [jumpEqual(1, 256, 0), ret(0)], 'instruction 0: a jump that does not fit into a byte'],
    ['an unknown operation', [{ code: 0x99, jt: 0, jf: 0, k: 0 }, ret(0)], 'instruction 0: unknown operation 153'],
  ])('refuses %s', (_, program, problem) => {
    expect(verify(program)).toBe(problem);
  });

  test('accepts a small program', () => {
    expect(
      verify([load(0), jumpEqual(1, 0, 1), ret(ACTION.allow), { code: OP.return, jt: 0, jf: 0, k: 0 }]),
    ).toBeNull();
  });
});

/** Without and with unix sockets. A change here is a change of the sandbox: read the program before accepting it. */
const GOLDEN: Record<Architecture, string[]> = {
  x64: [
    '401139b3ecf1005c8d51355995489d1878ea222f7cf22b86596ec255d6725612',
    '72e96324cdcceb682b1fe51f8947e0dda08ce15765e7ec0de663c3ad4ef5c093',
  ],
  arm64: [
    'db01a40639132a69abfcf0dba56f487f6a76c2f21c356243e47f83c29137e4fc',
    'e8862a4823326af78db53018aa9c02c7e35b957e1480df2c8563d061cc7d3e3a',
  ],
};
