/**
 * Keys that `interpreter login` keeps: in the operating system's keyring where there is one, else in HOME/auth.json
 * (mode 0600). That file lists the providers in either case, so that the keyring is opened only for a key it holds.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AsyncEntry } from '@napi-rs/keyring';
import { hasCode, isObject, messageOf, replaceFile, useKeyring } from '../util/index.js';
import { SettingsError } from './errors.js';
import { type JsonObject, objectOf, parseJson } from './json.js';

export type KeyPlace = 'keyring' | 'file';

const SERVICE = 'open-interpreter';

/** The stored key of a provider, or null. Throws SettingsError when the file or the keyring can't be read. */
export async function storedKey(home: string, providerId: string): Promise<string | null> {
  const entry = objectOf(objectOf((await readStore(home)).keys)[providerId]);
  if (typeof entry.key === 'string') return entry.key;
  if (entry.keyring !== true) return null;
  const key = await readKeyring(providerId);
  if (key !== null) return key;
  throw new SettingsError(
    `The keyring no longer holds the key of provider ${providerId}. Store it again with \`interpreter login ${providerId}\`.`,
    'unauthorized',
  );
}

/**
 * Stores a key and says where. `place` `file` leaves the keyring alone; `keyring` throws where there is none. Throws
 * SettingsError for an empty key.
 */
export async function login(home: string, providerId: string, key: string, place?: KeyPlace): Promise<KeyPlace> {
  const value = key.trim();
  if (value === '') throw new SettingsError(`No key was given for provider ${providerId}; nothing was stored.`);
  const chosen = place === 'file' ? 'file' : await tryKeyring(providerId, value, place === 'keyring');
  const store = await readStore(home);
  const entry = chosen === 'keyring' ? { keyring: true } : { key: value };
  await writeStore(home, { ...store, keys: { ...objectOf(store.keys), [providerId]: entry } });
  return chosen;
}

/** Removes the key of a provider. False when none was stored. */
export async function logout(home: string, providerId: string): Promise<boolean> {
  const store = await readStore(home);
  const { [providerId]: entry, ...others } = objectOf(store.keys);
  if (entry === undefined) return false;
  if (objectOf(entry).keyring === true) await keyring(providerId, item => item.deletePassword());
  await writeStore(home, { ...store, keys: others });
  return true;
}

/** The providers with a stored key, by id, and where each key is; never the keys. */
export async function loginStatus(home: string): Promise<{ provider: string; place: KeyPlace }[]> {
  return Object.entries(objectOf((await readStore(home)).keys))
    .map(([provider, entry]): { provider: string; place: KeyPlace } => ({
      provider,
      place: objectOf(entry).keyring === true ? 'keyring' : 'file',
    }))
    .sort((a, b) => (a.provider < b.provider ? -1 : 1));
}

async function tryKeyring(providerId: string, key: string, required: boolean): Promise<KeyPlace> {
  try {
    await keyring(providerId, item => item.setPassword(key));
    if ((await readKeyring(providerId)) === key) return 'keyring';
    throw new Error('it did not keep the key');
  } catch (error) {
    if (!required) return 'file';
    throw new SettingsError(`The keyring can't be used here: ${messageOf(error)}`, 'configuration', { cause: error });
  }
}

async function readKeyring(providerId: string): Promise<string | null> {
  return await keyring(providerId, item => item.getPassword());
}

async function keyring<T>(providerId: string, use: (entry: AsyncEntry) => Promise<T>): Promise<T> {
  try {
    return await useKeyring(SERVICE, providerId, use);
  } catch (error) {
    throw new SettingsError(`The keyring failed for provider ${providerId}: ${messageOf(error)}`, 'unauthorized', {
      cause: error,
    });
  }
}

function fileOf(home: string): string {
  return join(home, 'auth.json');
}

async function readStore(home: string): Promise<JsonObject> {
  const file = fileOf(home);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return {};
    throw new SettingsError(`${file} can't be read: ${messageOf(error)}`, 'configuration', { cause: error });
  }
  const store = parseJson(text);
  if (isObject(store)) return store;
  throw new SettingsError(`${file} is no JSON object. Correct it, or remove it and log in again.`);
}

function writeStore(home: string, store: JsonObject): Promise<void> {
  return replaceFile(fileOf(home), `${JSON.stringify(store, null, 2)}\n`);
}
