/** The system-call filter as data, for those who check it. */
export { ACTION, DATA, type Instruction, jumpEqual, load, OP, ret, verify } from './bpf.js';
export { filterProgram, seccompFilter } from './filter.js';
export { type Architecture, AUDIT_ARCH, SYSCALLS, type SyscallName } from './syscalls.js';
