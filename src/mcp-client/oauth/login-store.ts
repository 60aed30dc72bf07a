/**
 * Logins to MCP servers: in the operating system's keyring where there is one, else in HOME/mcp-auth.json (mode 0600).
 * That file lists them in either case, so that the keyring is opened only for what it holds.
 */
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { delay, hasCode, messageOf, replaceFile, useKeyring } from '../../util/index.js';

export type LoginPlace = 'keyring' | 'file';

/** Everything a later process needs to use and to renew a login. */
export type StoredLogin = {
  readonly redirect_url: string;
  /** What was asked for; a service need not say what it granted. */
  readonly scope?: string;
  readonly client_metadata_url?: string;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly discovery?: OAuthDiscoveryState;
};

type Entry = { keyring: true } | { login: StoredLogin };

const SERVICE = 'open-interpreter-mcp';
/** A lock that is older was left by a process that died. */
const STALE_LOCK_MS = 30_000;
const LOCK_WAIT_MS = 20_000;

export class LoginStore {
  readonly #file: string;
  readonly #places: readonly LoginPlace[];

  /** `place` `file` leaves the keyring alone. */
  constructor(home: string, place?: LoginPlace) {
    this.#file = path.join(home, 'mcp-auth.json');
    this.#places = place === undefined ? ['keyring', 'file'] : [place];
  }

  /** A login belongs to a server's name and address: with another address it is another server. */
  static key(name: string, url: string): string {
    return `${name} ${url}`;
  }

  /** Throws when the file or the keyring can't be read. */
  async load(key: string): Promise<StoredLogin | null> {
    const entry = (await this.#read())[key];
    if (entry === undefined) return null;
    if ('login' in entry) return entry.login;
    const text = await useKeyring(SERVICE, key, item => item.getPassword());
    return text === null ? null : (JSON.parse(text) as StoredLogin);
  }

  async has(key: string): Promise<boolean> {
    return (await this.#read())[key] !== undefined;
  }

  /** Returns where it was put. */
  async save(key: string, login: StoredLogin): Promise<LoginPlace> {
    const inKeyring = this.#places.includes('keyring') && (await storeInKeyring(key, login, this.#places.length === 1));
    const entry: Entry = inKeyring ? { keyring: true } : { login };
    await this.#write({ ...(await this.#read()), [key]: entry });
    return inKeyring ? 'keyring' : 'file';
  }

  /** False when there was none. */
  async remove(key: string): Promise<boolean> {
    const { [key]: entry, ...others } = await this.#read();
    if (entry === undefined) return false;
    if ('keyring' in entry) await useKeyring(SERVICE, key, item => item.deletePassword());
    await this.#write(others);
    return true;
  }

  /** One process at a time: two that renew the same login would make each other's tokens void. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${this.#file}.lock`;
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const handle = await takeLock(lock);
    try {
      return await work();
    } finally {
      await handle.close();
      await rm(lock, { force: true });
    }
  }

  async #read(): Promise<Record<string, Entry>> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return {};
      throw new Error(`${this.#file} can't be read: ${messageOf(error)}`, { cause: error });
    }
    try {
      return (JSON.parse(text) as { logins: Record<string, Entry> }).logins;
    } catch (error) {
      throw new Error(`${this.#file} is no JSON. Remove it and log in again.`, { cause: error });
    }
  }

  #write(logins: Record<string, Entry>): Promise<void> {
    return replaceFile(this.#file, `${JSON.stringify({ logins }, null, 2)}\n`);
  }
}

/** `required`: throw instead of answering false. */
async function storeInKeyring(key: string, login: StoredLogin, required: boolean): Promise<boolean> {
  const text = JSON.stringify(login);
  try {
    await useKeyring(SERVICE, key, item => item.setPassword(text));
    if ((await useKeyring(SERVICE, key, item => item.getPassword())) === text) return true;
    throw new Error('the keyring did not keep the login');
  } catch (error) {
    if (required) throw error;
    // A machine without a keyring, or one for shorter texts: the file is what is left.
    return false;
  }
}

async function takeLock(lock: string) {
  const end = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return await open(lock, 'wx', 0o600);
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || performance.now() > end) {
        throw new Error(`${lock} could not be taken: ${messageOf(error)}`, { cause: error });
      }
      await removeStale(lock);
      await delay(50);
    }
  }
}

async function removeStale(lock: string): Promise<void> {
  try {
    if (Date.now() - (await stat(lock)).mtimeMs > STALE_LOCK_MS) await rm(lock, { force: true });
  } catch {
    // It was given back meanwhile.
  }
}
