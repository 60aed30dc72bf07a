/**
 * Descriptors of ours that a child would inherit although nobody meant it to: those we were started with ourselves,
 * and the terminals of other commands, which their library does not close on exec. A sandboxed command could act
 * through them, so every child gets /dev/null in their place, or has them closed.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

export class DescriptorGuard {
  #leaking: readonly number[] | null = null;
  #devNull: number | null = null;

  /** The numbers above 2 that are not closed on exec. Looked up once, and again after `refresh`. */
  get leaking(): readonly number[] {
    this.#leaking ??= withoutUnreachable(findLeaking());
    return this.#leaking;
  }

  /** To be called when something was opened or closed by native code. */
  refresh(): void {
    this.#leaking = null;
  }

  /** The standard streams and `inherit` of a child, with every leaking number covered. */
  cover<T>(stdio: readonly T[]): (T | 'ignore' | number)[] {
    const covered: (T | 'ignore' | number)[] = [...stdio];
    for (const fd of this.leaking) {
      if (fd < stdio.length) continue;
      while (covered.length <= fd) covered.push('ignore');
      this.#devNull ??= openSync('/dev/null', 'r');
      covered[fd] = this.#devNull;
    }
    return covered;
  }
}

function findLeaking(): number[] {
  return listDescriptors().filter(fd => fd > 2 && !isClosedOnExec(fd));
}

/**
 * Those beyond our own limit were opened before the limit was lowered. A child can't be given anything in their place,
 * so they are closed here: nothing of ours can have such a number.
 */
function withoutUnreachable(leaking: readonly number[]): number[] {
  if (leaking.length === 0) return [];
  const limit = descriptorLimit();
  for (const fd of leaking) if (fd >= limit) closeSync(fd);
  return leaking.filter(fd => fd < limit);
}

function descriptorLimit(): number {
  const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

function listDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number);
  } catch {
    // Without /proc it can't be told; Node closes what it was started with as far as it goes.
    return [];
  }
}

function isClosedOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    // The descriptor of the listing itself, closed by now.
    return true;
  }
}
