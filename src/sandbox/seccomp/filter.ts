/**
 * The system-call filter of sandboxed commands. The namespaces and mounts of bubblewrap do the isolation; the filter
 * takes away what could undo them, kernel interfaces that have been ways out before, and sockets that reach services
 * of this machine. Default: allow.
 */
import { ACTION, and, assemble, DATA, type Instruction, jumpEqual, jumpSet, load, ret, verify } from './bpf.js';
import { type Architecture, AUDIT_ARCH, SYSCALLS, type SyscallName } from './syscalls.js';

const EPERM = ACTION.errno(1);
const ENOSYS = ACTION.errno(38);

/** Refused whatever their arguments. */
const REFUSED: readonly SyscallName[] = [
  // Other processes.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'kcmp',
  'pidfd_getfd',
  // Does the work of other calls without passing this filter.
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  // Large interfaces of the kernel.
  'bpf',
  'perf_event_open',
  'userfaultfd',
  // Keys are not held by any namespace.
  'add_key',
  'request_key',
  'keyctl',
  // Mounts are the protection.
  'mount',
  'umount2',
  'pivot_root',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'open_tree_attr',
  'setns',
  'open_by_handle_at',
  // The machine.
  'kexec_load',
  'kexec_file_load',
  'create_module',
  'init_module',
  'finit_module',
  'delete_module',
  'reboot',
  'swapon',
  'swapoff',
  'acct',
  'syslog',
  'quotactl',
  'quotactl_fd',
  'iopl',
  'ioperm',
];

/**
 * Their arguments lie in memory, where a filter can't look. Programs fall back to the older calls, as on kernels that
 * do not have these.
 */
const NOT_THERE: readonly SyscallName[] = ['clone3', 'openat2'];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** Only `unshare` can ask for it: in `clone` the bit belongs to the exit signal. */
const CLONE_NEWTIME = 0x80;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const S_ISUID = 0o4000;
/** O_CREAT and the bit that makes O_TMPFILE: only then is the mode looked at. */
const CREATES = 0x40 | 0x400000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_TYPE_MASK = 0xf;

/** Bit 30 marks the x32 calls of x86-64. */
const X32 = 0x40000000;

export type FilterOptions = {
  readonly architecture: Architecture;
  /** Unix sockets reach services such as docker, ssh-agent and D-Bus, in any network namespace. */
  readonly unixSockets: boolean;
};

/** The filter as bytes for `bwrap --seccomp`. Throws when the program would not be accepted: then nothing may run. */
export function seccompFilter(options: FilterOptions): Buffer {
  const program = filterProgram(options);
  const problem = verify(program);
  if (problem !== null) throw new Error(`the system-call filter is not valid: ${problem}`);
  return assemble(program);
}

export function filterProgram({ architecture, unixSockets }: FilterOptions): Instruction[] {
  return [
    load(DATA.arch),
    jumpEqual(AUDIT_ARCH[architecture], 1, 0),
    ret(ACTION.killProcess),
    load(DATA.number),
    ...(architecture === 'x64' ? [jumpSet(X32, 0, 1), ret(ENOSYS)] : []),
    ...REFUSED.flatMap(name => onCall(name, architecture, [ret(EPERM)])),
    ...NOT_THERE.flatMap(name => onCall(name, architecture, [ret(ENOSYS)])),
    ...onCall('clone', architecture, refuseBits(0, NEW_NAMESPACES)),
    ...onCall('unshare', architecture, refuseBits(0, NEW_NAMESPACES | CLONE_NEWTIME)),
    ...onCall('ioctl', architecture, refuseValues(1, [TIOCSTI, TIOCLINUX])),
    ...setUserIdRules(architecture),
    ...socketRules(architecture, unixSockets),
    ret(ACTION.allow),
  ];
}

/**
 * `body` is run for this call and must return on each of its ways. It comes right after its own comparison, so no jump
 * gets long.
 */
function onCall(name: SyscallName, architecture: Architecture, body: readonly Instruction[]): Instruction[] {
  const number = SYSCALLS[name][architecture];
  return number === null ? [] : [jumpEqual(number, 0, body.length), ...body];
}

/** The kernel takes these arguments as ints: only the low words count, and only they are compared. */
function refuseBits(argument: number, mask: number): Instruction[] {
  return [load(DATA.argument(argument)), jumpSet(mask, 0, 1), ret(EPERM), ret(ACTION.allow)];
}

function refuseValues(argument: number, values: readonly number[]): Instruction[] {
  return [
    load(DATA.argument(argument)),
    ...values.flatMap(value => [jumpEqual(value, 0, 1), ret(EPERM)]),
    ret(ACTION.allow),
  ];
}

/** No set-user-id files: as root, one in the workspace would make everybody root. */
function setUserIdRules(architecture: Architecture): Instruction[] {
  const modeIn = (name: SyscallName, argument: number) => onCall(name, architecture, refuseBits(argument, S_ISUID));
  const opens = (name: SyscallName, flags: number) =>
    onCall(name, architecture, [
      load(DATA.argument(flags)),
      jumpSet(CREATES, 1, 0),
      ret(ACTION.allow),
      ...refuseBits(flags + 1, S_ISUID),
    ]);
  return [
    ...modeIn('chmod', 1),
    ...modeIn('fchmod', 1),
    ...modeIn('fchmodat', 2),
    ...modeIn('fchmodat2', 2),
    ...modeIn('creat', 1),
    ...modeIn('mknod', 1),
    ...modeIn('mknodat', 2),
    ...opens('open', 1),
    ...opens('openat', 2),
  ];
}

/**
 * IPv4, IPv6 and the netlink family that lists interfaces; the network namespace decides how far they reach. A
 * connected pair of unix sockets stays, but not of datagrams (nor SOCK_RAW, which is the same): those can be sent to
 * any socket in the file system.
 */
function socketRules(architecture: Architecture, unixSockets: boolean): Instruction[] {
  const families = [...(unixSockets ? [AF_UNIX] : []), AF_INET, AF_INET6];
  return [
    ...onCall('socket', architecture, [
      load(DATA.argument(0)),
      ...families.flatMap(family => [jumpEqual(family, 0, 1), ret(ACTION.allow)]),
      jumpEqual(AF_NETLINK, 1, 0),
      ret(EPERM),
      load(DATA.argument(2)),
      jumpEqual(NETLINK_ROUTE, 1, 0),
      ret(EPERM),
      ret(ACTION.allow),
    ]),
    ...(unixSockets
      ? []
      : onCall('socketpair', architecture, [
          load(DATA.argument(1)),
          and(SOCK_TYPE_MASK),
          jumpEqual(SOCK_STREAM, 1, 0),
          jumpEqual(SOCK_SEQPACKET, 0, 1),
          ret(ACTION.allow),
          ret(EPERM),
        ])),
  ];
}
