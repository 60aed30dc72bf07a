/** Identifiers: UUIDv7, so that they sort by time. */
import { uuidv7 } from 'uuidv7';

export const newId = (): string => uuidv7();

/** An id for an item of ours, e.g. `msg_<uuid>`. */
export const newItemId = (prefix: 'msg' | 'rs' | 'fc' | 'fco' | 'ctc' | 'ctco' | 'item'): string =>
  `${prefix}_${uuidv7()}`;
