/** A patch that can't be applied, and system errors in words. */
import { getSystemErrorMap } from 'node:util';

/** Why nothing can be done; `message` is for the model. */
export class PatchRefusal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatchRefusal';
  }
}

/** `no space left on device (ENOSPC)`; null for what is no error of the system. */
function systemReason(error: unknown): string | null {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return null;
  const known = getSystemErrorMap().get(error.errno);
  return known ? `${known[1]} (${known[0]})` : null;
}

/** `error` as a refusal that starts with `what`, when the system said it; everything else is thrown on as it is. */
export function refusalFrom(error: unknown, what: string): PatchRefusal {
  const reason = systemReason(error);
  if (reason === null) throw error;
  return new PatchRefusal(`${what}: ${reason}`, { cause: error });
}
