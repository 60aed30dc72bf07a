/** Commands that can't do what they were asked to say so in a line, and not by a stack. */
import { UnreadableRolloutError } from '../rollout/index.js';
import type { Output } from './output.js';

/** A command that could not do what it was asked to; its message is for the person. */
export class Refusal extends Error {}

/** The exit status for that. */
export const FAILED = 1;

/** Errors that are for the person become a line on stderr and exit status 1. */
export async function refusing(output: Output, action: () => Promise<number>): Promise<number> {
  try {
    return await action();
  } catch (error) {
    if (!isForThePerson(error)) throw error;
    output.err(`${error.message}\n`);
    return FAILED;
  }
}

/** Errors of the system say what failed and where; the rest is ours. */
function isForThePerson(error: unknown): error is Error {
  return (
    error instanceof Refusal ||
    error instanceof UnreadableRolloutError ||
    (error instanceof Error && 'code' in error && 'syscall' in error)
  );
}
