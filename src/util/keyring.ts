import type { AsyncEntry } from '@napi-rs/keyring';
import { within } from './abort.js';

/** A locked keyring may show a dialog; nobody may be there to see it. */
const LIMIT_MS = 10_000;

/** Uses one entry of the operating system's keyring. Throws where there is none, and when it does not answer in time. */
export async function useKeyring<T>(service: string, name: string, use: (entry: AsyncEntry) => Promise<T>): Promise<T> {
  const keyrings = await import('@napi-rs/keyring');
  // The kernel's own key store forgets at a restart; only a secret service counts as a keyring on Linux.
  const entry = new keyrings.AsyncEntry(service, name, { linux: { store: 'secret-service' } });
  const result = await within(
    use(entry).then(value => ({ value })),
    LIMIT_MS,
  );
  if (result === undefined) throw new Error(`the keyring did not answer within ${LIMIT_MS / 1000} s; is it locked?`);
  return result.value;
}
