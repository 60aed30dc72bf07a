/** Ids for items whose server gave none, in the form of the Responses API. */
import { randomUUID } from 'node:crypto';

export type IdPrefix = 'msg' | 'rs' | 'fc' | 'ctc' | 'call' | 'resp';

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`;
}
