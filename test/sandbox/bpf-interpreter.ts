/** Runs a seccomp program as the kernel would, on one system call. */
import { seccomp } from '../../src/sandbox/index.js';

const { DATA, OP } = seccomp;

export type Call = { arch: number; number: number; args?: readonly bigint[] };

/** The action that the program returns. Throws when it runs off its end. */
export function interpret(program: readonly seccomp.Instruction[], call: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, DATA.number);
  data.writeUInt32LE(call.arch >>> 0, DATA.arch);
  (call.args ?? []).forEach((arg, i) => data.writeBigUInt64LE(BigInt.asUintN(64, arg), DATA.argument(i)));
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const instruction = program[at];
    if (!instruction) throw new Error('the program ran off its end');
    const { code, jt, jf, k } = instruction;
    if (code === OP.return) return k >>> 0;
    if (code === OP.load) accumulator = data.readUInt32LE(k);
    else if (code === OP.and) accumulator = (accumulator & k) >>> 0;
    else if (code === OP.jumpEqual) at += accumulator === k >>> 0 ? jt : jf;
    else if (code === OP.jumpSet) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`unknown operation ${code}`);
  }
}
