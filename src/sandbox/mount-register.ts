/**
 * The mount points that running commands need and that are not really there: who uses them, and when they may go.
 * Removing one on the host silently takes the protection from every sandbox that uses it, so it is done under a lock,
 * by the last user, and only when no other process has anything mounted there.
 *
 * Each server says in `STATE/servers/<server>/mounts/held` what its commands use, with lines `used PATH` and
 * `made PATH` (the watchdog reads them too); what a dead server has left is swept.
 */
import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileLock } from './file-lock.js';
import { mountedElsewhere } from './foreign-mounts.js';
import { isDeadServer, ownerFile, type ServerDirectory } from './server-directory.js';

export type MountPoint = { readonly path: string; readonly absent: boolean };

/** A command's hold on its mount points. */
export type MountHold = {
  /** Lets go, and removes what nobody else uses. Never throws; what can't be removed now is left to a later sweep. */
  release(): Promise<void>;
};

type Marker = { readonly used: ReadonlySet<string>; readonly made: ReadonlySet<string> };

/** Pauses between attempts, in milliseconds: another user may be about to end. */
const PAUSES = [5, 30, 200, 700];

export class MountRegister {
  readonly #stateDir: string;
  readonly #server: ServerDirectory;
  readonly #lock: FileLock;
  /** How many of our commands use a path. */
  readonly #used = new Map<string, number>();
  /** What is to be removed after its last use. */
  readonly #made = new Set<string>();
  /** One attempt to remove after the other. */
  #attempts: Promise<void> = Promise.resolve();
  #retries = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(stateDir: string, server: ServerDirectory) {
    this.#stateDir = stateDir;
    this.#server = server;
    this.#lock = new FileLock(join(stateDir, 'mounts.lock'), ownerFile(server));
    mkdirSync(join(server.path, 'mounts'), { recursive: true, mode: 0o700 });
  }

  /**
   * `look` reads from the disk what is needed, and may run twice. What is absent will be made by the sandbox itself.
   * Throws when the state folder can't be written.
   */
  async hold<T extends { readonly mountPoints: readonly MountPoint[] }>(look: () => T): Promise<[T, MountHold]> {
    if (this.#used.size > 0) {
      const seen = look();
      // What a running command of ours uses is safe from everybody.
      if (seen.mountPoints.every(({ path }) => this.#used.has(path))) return [seen, this.#take(seen.mountPoints)];
    }
    return this.#lock.run(() => {
      const seen = look();
      if (seen.mountPoints.length > 0) this.#claim(seen.mountPoints);
      return [seen, this.#take(seen.mountPoints)];
    });
  }

  /** Removes what a server has left that is no more. False: something is still in use, and its folder must stay. */
  async sweep(dead: ServerDirectory): Promise<boolean> {
    let left: ReadonlySet<string> = readMarker(dead.path)?.made ?? new Set();
    for (const pause of [...PAUSES, 0]) {
      if (left.size === 0) return true;
      left = await this.#lock.run(() => this.#remove(left));
      if (left.size > 0) await sleep(pause);
    }
    return left.size === 0;
  }

  /** Removes everything that is no longer used. False: something is still in use by others. */
  async settle(): Promise<boolean> {
    clearTimeout(this.#retry);
    for (const pause of [...PAUSES, 0]) {
      await this.#removeUnused();
      if (this.#unused().size === 0) return true;
      await sleep(pause);
    }
    return false;
  }

  /** Under the lock: says that we use these, and which of them have to be removed afterwards. */
  #claim(points: readonly MountPoint[]): void {
    const present = points.filter(point => !point.absent && !this.#made.has(point.path)).map(point => point.path);
    for (const { path, absent } of points) if (absent) this.#made.add(path);
    for (const path of present.length === 0 ? [] : this.#madeByOthers(present)) this.#made.add(path);
    this.#write([...this.#used.keys(), ...points.map(point => point.path)]);
  }

  #take(points: readonly MountPoint[]): MountHold {
    for (const { path } of points) this.#used.set(path, (this.#used.get(path) ?? 0) + 1);
    return {
      release: () => {
        for (const { path } of points) this.#letGo(path);
        this.#retries = 0;
        return this.#removeUnused();
      },
    };
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

  #write(used: readonly string[]): void {
    const lines = [
      ...new Set(used.map(path => `used ${escapePath(path)}\n`)),
      ...[...this.#made].map(path => `made ${escapePath(path)}\n`),
    ];
    const file = markerFile(this.#server.path);
    if (lines.length > 0) writeFileSync(file, lines.join(''), { mode: 0o600 });
    else removeFile(file);
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

async function removeEmptyDirectory(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch {
    // Somebody has put something into it, or it is gone: then it is not ours to remove.
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there.
  }
}
