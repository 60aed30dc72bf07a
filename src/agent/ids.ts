/** Identifiers: UUIDv7, so that they sort by time. */
import { randomBytes } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** The default generator takes its numbers from WebCrypto, which a process would load for this alone. */
const generator = new V7Generator({ nextUint32: () => randomBytes(4).readUInt32BE() });

export const newId = (): string => generator.generate().toString();

/** An id for an item of ours, e.g. `msg_<uuid>`. */
export const newItemId = (prefix: 'msg' | 'rs' | 'fc' | 'fco' | 'ctc' | 'ctco' | 'item'): string =>
  `${prefix}_${newId()}`;
