/** Identifiers: UUIDv7, so that they sort by time. */
import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Asked for in one go: a turn makes dozens of ids. */
const randomness = Buffer.alloc(1024);
let unused = 0;

function nextUint32(): number {
  if (unused === 0) unused = randomFillSync(randomness).length;
  unused -= 4;
  return randomness.readUInt32BE(unused);
}

/** The default generator takes its numbers from WebCrypto, which a process would load for this alone. */
const generator = new V7Generator({ nextUint32 });

export const newId = (): string => generator.generate().toString();

/** An id for an item of ours, e.g. `msg_<uuid>`. */
export const newItemId = (prefix: 'msg' | 'rs' | 'fc' | 'fco' | 'ctc' | 'ctco' | 'item'): string =>
  `${prefix}_${newId()}`;
