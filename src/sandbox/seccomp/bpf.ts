/** Classic BPF as seccomp takes it: instructions, their bytes, and the checks the kernel makes before it accepts them. */

export type Instruction = {
  readonly code: number;
  /** How many instructions are skipped when the comparison holds / does not hold. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
};

/** The operations the filter uses. Loads are of 32-bit words of `struct seccomp_data`. */
export const OP = {
  load: 0x20,
  and: 0x54,
  jumpEqual: 0x15,
  jumpSet: 0x45,
  return: 0x06,
} as const;

/** Offsets in `struct seccomp_data`. Arguments have 64 bits; `argument(n)` is the low word (little endian). */
export const DATA = { number: 0, arch: 4, argument: (n: number) => 16 + 8 * n } as const;
const DATA_SIZE = 64;

export const ACTION = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  errno: (number: number) => 0x00050000 | number,
} as const;

export const load = (offset: number): Instruction => ({ code: OP.load, jt: 0, jf: 0, k: offset });
export const and = (mask: number): Instruction => ({ code: OP.and, jt: 0, jf: 0, k: mask });
export const ret = (action: number): Instruction => ({ code: OP.return, jt: 0, jf: 0, k: action });
export const jumpEqual = (k: number, jt: number, jf: number): Instruction => ({ code: OP.jumpEqual, jt, jf, k });
export const jumpSet = (k: number, jt: number, jf: number): Instruction => ({ code: OP.jumpSet, jt, jf, k });

/** `struct sock_filter[]`: eight bytes each, little endian as both supported architectures are. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, jt, jf, k }, i) => {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(jt, i * 8 + 2);
    bytes.writeUInt8(jf, i * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, i * 8 + 4);
  });
  return bytes;
}

/** What is wrong with a program, or null: length, known operations, aligned loads, jumps inside, an end by RET. */
export function verify(program: readonly Instruction[]): string | null {
  if (program.length === 0 || program.length > 4096) return `a program of ${program.length} instructions`;
  for (const [i, instruction] of program.entries()) {
    const problem = verifyInstruction(instruction, program.length - i - 1);
    if (problem !== null) return `instruction ${i}: ${problem}`;
  }
  return program.at(-1)?.code === OP.return ? null : 'the last instruction is no return';
}

function verifyInstruction({ code, jt, jf, k }: Instruction, following: number): string | null {
  switch (code) {
    case OP.load:
      return k % 4 === 0 && k >= 0 && k < DATA_SIZE ? null : `load at ${k}`;
    case OP.jumpEqual:
    case OP.jumpSet:
      if (jt > 255 || jf > 255) return 'a jump that does not fit into a byte';
      return Math.max(jt, jf) < following ? null : 'a jump behind the end';
    case OP.and:
    case OP.return:
      return null;
    default:
      return `unknown operation ${code}`;
  }
}
