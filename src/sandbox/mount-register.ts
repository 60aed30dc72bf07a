/**
 * The mount points that running commands need and that are not really there: who uses them, and when they may go.
 * Removing one on the host silently takes the protection from every sandbox that uses it, so it is done under a lock,
 * by the last user, and only when no other process has anything mounted there.
 *
 * Each server says in `STATE/servers/<server>/mounts/held` what its commands use, with lines `used PATH` and
 * `made PATH` (the watchdog reads them too); what a dead server has left is swept.
 */
import {
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdir,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { delay } from '../util/index.js';
import { FileLock } from './file-lock.js';
import { mountedElsewhere } from './foreign-mounts.js';
import { isDeadServer, ownerFile, type ServerDirectory } from './server-directory.js';

/** A command's hold on its mount points. */
export type MountHold = {
  /** Lets go; a moment later what nobody uses is removed. Never throws; what can't be removed is left to a sweep. */
  release(): Promise<void>;
};

type Marker = { readonly used: ReadonlySet<string>; readonly made: ReadonlySet<string> };

/** Pauses between attempts, in milliseconds: another user may be about to end. */
const PAUSES = [5, 30, 200, 700];

/** Removing waits so long: the result of the command comes first, and its successor may use the same. */
const REST_MS = 50;

export class MountRegister {
  readonly #stateDir: string;
  readonly #server: ServerDirectory;
  readonly #lock: FileLock;
  /** How many of our commands use a path. */
  readonly #used = new Map<string, number>();
  /** What is to be removed after its last use. */
  readonly #made = new Set<string>();
  /** What ended commands have used, and we have not let go of yet. */
  readonly #resting: string[] = [];
  #rest: NodeJS.Timeout | undefined;
  /** One attempt to remove after the other. */
  #attempts: Promise<void> = Promise.resolve();
  #retries = 0;
  #file: number | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor(stateDir: string, server: ServerDirectory) {
    this.#stateDir = stateDir;
    this.#server = server;
    this.#lock = new FileLock(join(stateDir, 'mounts.lock'), ownerFile(server));
    mkdirSync(join(server.path, 'mounts'), { recursive: true, mode: 0o700 });
  }

  /**
   * `paths`: what is not there, or empty. What is not there is made, by us or by the sandbox itself, and removed after
   * the last use. Throws when the state folder can't be written.
   */
  async hold(paths: readonly string[]): Promise<MountHold> {
    // What a running command of ours uses is safe from everybody.
    if (paths.every(path => this.#used.has(path))) return this.#take(paths, []);
    return this.#lock.run(() => {
      const absent = paths.filter(path => lstatSync(path, { throwIfNoEntry: false }) === undefined);
      this.#claim(paths, absent);
      return this.#take(paths, absent);
    });
  }

  /** Removes what a server has left that is no more. False: something is still in use, and its folder must stay. */
  async sweep(dead: ServerDirectory): Promise<boolean> {
    let left: ReadonlySet<string> = readMarker(dead.path)?.made ?? new Set();
    for (const pause of [...PAUSES, 0]) {
      if (left.size === 0) return true;
      left = await this.#lock.run(() => this.#remove(left));
      if (left.size > 0) await delay(pause);
    }
    return left.size === 0;
  }

  /** At the end: removes everything that is no longer used. False: something is still in use by others. */
  async settle(): Promise<boolean> {
    clearTimeout(this.#retry);
    for (const pause of [...PAUSES, 0]) {
      await this.tidy();
      if (this.#unused().size === 0) break;
      await delay(pause);
    }
    this.#closeFile();
    return this.#unused().size === 0;
  }

  /** Under the lock: says that we use these, and which of them have to be removed afterwards. */
  #claim(paths: readonly string[], absent: readonly string[]): void {
    for (const path of absent) this.#made.add(path);
    const unexplained = paths.filter(path => !this.#made.has(path));
    for (const path of unexplained.length === 0 ? [] : this.#madeByOthers(unexplained)) this.#made.add(path);
    this.#write([...this.#used.keys(), ...paths]);
  }

  #take(paths: readonly string[], absent: readonly string[]): MountHold {
    for (const path of paths) this.#used.set(path, (this.#used.get(path) ?? 0) + 1);
    // Not waited for: the sandbox makes what it finds missing, but by then they are there, at no cost of time.
    const made = Promise.all(absent.map(makeDirectory));
    return {
      release: async () => {
        await made;
        this.#resting.push(...paths);
        this.#rest ??= setTimeout(() => void this.tidy(), REST_MS).unref();
      },
    };
  }

  /** Removes now what no running command uses. Never throws. */
  tidy(): Promise<void> {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    for (const path of this.#resting.splice(0)) this.#letGo(path);
    this.#retries = 0;
    return this.#removeUnused();
  }

  #letGo(path: string): void {
    const left = (this.#used.get(path) ?? 1) - 1;
    if (left > 0) this.#used.set(path, left);
    else this.#used.delete(path);
  }

  /** Of empty folders that are there: those that a command of another server made; the rest belongs to the person. */
  #madeByOthers(paths: readonly string[]): string[] {
    const known = new Set(this.#otherMarkers().flatMap(({ marker }) => [...marker.made]));
    const unexplained = paths.filter(path => !known.has(path));
    // One that no marker explains is another home's when something is mounted there.
    const foreign = unexplained.length === 0 ? new Set<string>() : mountedElsewhere(unexplained);
    return paths.filter(path => known.has(path) || foreign.has(path));
  }

  #unused(): ReadonlySet<string> {
    return new Set([...this.#made].filter(path => !this.#used.has(path)));
  }

  #removeUnused(): Promise<void> {
    this.#attempts = this.#attempts.then(async () => {
      if (this.#unused().size === 0) return;
      try {
        const busy = await this.#lock.run(async () => {
          const left = await this.#remove(this.#unused());
          this.#write([...this.#used.keys()]);
          return left;
        });
        if (busy.size > 0) this.#tryAgain();
      } catch {
        // The lock could not be had in time, or the state folder is gone. A later sweep finds what is left.
      }
    });
    return this.#attempts;
  }

  /** Another user may be about to end; one that goes on will remove it, or we do with our next command or at the end. */
  #tryAgain(): void {
    const pause = PAUSES[this.#retries++];
    if (pause === undefined) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#removeUnused(), pause);
    this.#retry.unref();
  }

  /** Under the lock. Returns what stays because somebody has it mounted. */
  async #remove(paths: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const living = this.#otherMarkers().filter(({ id }) => !isDeadServer(id));
    const usedByOthers = new Set(living.flatMap(({ marker }) => [...marker.used]));
    // Those know that it was made, and remove it themselves.
    const free = [...paths].filter(path => !usedByOthers.has(path) && !this.#used.has(path));
    const busy = free.length === 0 ? new Set<string>() : mountedElsewhere(free);
    await Promise.all(free.filter(path => !busy.has(path)).map(removeEmptyDirectory));
    for (const path of paths) {
      // What a dead server made and we use is ours to remove.
      if (this.#used.has(path)) this.#made.add(path);
      else if (!busy.has(path)) this.#made.delete(path);
    }
    return busy;
  }

  /** Over the old text, which is cut off afterwards: there is never less in the file than what is held. */
  #write(used: readonly string[]): void {
    const lines = [
      ...new Set(used.map(path => `used ${escapePath(path)}\n`)),
      ...[...this.#made].map(path => `made ${escapePath(path)}\n`),
    ];
    const text = Buffer.from(lines.join(''));
    this.#file ??= openSync(markerFile(this.#server.path), 'w', 0o600);
    writeSync(this.#file, text, 0, text.length, 0);
    ftruncateSync(this.#file, text.length);
  }

  #closeFile(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #otherMarkers(): { id: string; marker: Marker }[] {
    const servers = join(this.#stateDir, 'servers');
    return readdirSync(servers).flatMap(id => {
      const marker = id === this.#server.id ? null : readMarker(join(servers, id));
      return marker === null ? [] : [{ id, marker }];
    });
  }
}

function markerFile(server: string): string {
  return join(server, 'mounts', 'held');
}

function readMarker(server: string): Marker | null {
  try {
    const text = readFileSync(markerFile(server), 'utf8');
    return { used: pathsOf(text, 'used '), made: pathsOf(text, 'made ') };
  } catch {
    // Nothing is held there.
    return null;
  }
}

function pathsOf(text: string, prefix: string): Set<string> {
  const lines = text.split('\n').filter(line => line.startsWith(prefix));
  return new Set(lines.map(line => unescapePath(line.slice(prefix.length))));
}

/** Line ends, and blanks that a shell would cut off, become `\x0a` and the like. */
function escapePath(path: string): string {
  return path.replace(/[\\\n\t]|^\s|\s$/g, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function unescapePath(text: string): string {
  return text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Resolves in any case: it may be there already, and when it can't be made the sandbox will say so. */
function makeDirectory(path: string): Promise<void> {
  return new Promise(resolve => mkdir(path, 0o755, () => resolve()));
}

async function removeEmptyDirectory(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch {
    // Somebody has put something into it, or it is gone: then it is not ours to remove.
  }
}
