/** Numbers of the system calls that the filter names, by architecture; from the kernel's tables (up to Linux 6.18). */

export type Architecture = 'x64' | 'arm64';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
export const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Null: the architecture does not have this call. */
type Numbers = Readonly<Record<Architecture, number | null>>;

/** Calls with one number everywhere: those added since all architectures share a table. */
const everywhere = (number: number): Numbers => ({ x64: number, arm64: number });

export const SYSCALLS = {
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  kcmp: { x64: 312, arm64: 272 },
  pidfd_getfd: everywhere(438),
  io_uring_setup: everywhere(425),
  io_uring_enter: everywhere(426),
  io_uring_register: everywhere(427),
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  open_tree: everywhere(428),
  move_mount: everywhere(429),
  fsopen: everywhere(430),
  fsconfig: everywhere(431),
  fsmount: everywhere(432),
  fspick: everywhere(433),
  mount_setattr: everywhere(442),
  open_tree_attr: everywhere(467),
  setns: { x64: 308, arm64: 268 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  create_module: { x64: 174, arm64: null },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  syslog: { x64: 103, arm64: 116 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: everywhere(443),
  iopl: { x64: 172, arm64: null },
  ioperm: { x64: 173, arm64: null },
  unshare: { x64: 272, arm64: 97 },
  clone: { x64: 56, arm64: 220 },
  clone3: everywhere(435),
  ioctl: { x64: 16, arm64: 29 },
  chmod: { x64: 90, arm64: null },
  fchmod: { x64: 91, arm64: 52 },
  fchmodat: { x64: 268, arm64: 53 },
  fchmodat2: everywhere(452),
  creat: { x64: 85, arm64: null },
  open: { x64: 2, arm64: null },
  openat: { x64: 257, arm64: 56 },
  openat2: everywhere(437),
  mknod: { x64: 133, arm64: null },
  mknodat: { x64: 259, arm64: 33 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
} as const satisfies Readonly<Record<string, Numbers>>;

export type SyscallName = keyof typeof SYSCALLS;
