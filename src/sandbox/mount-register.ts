/**
 * The mount points that running commands need and that are not really there: who uses them, and when they may go.
 * Removing one on the host silently takes the protection from every sandbox that uses it, so it is done under a lock,
 * by the last user, and only when no other process has anything mounted there.
 *
 * Each running command has one marker `STATE/servers/<server>/mounts/<n>`, with lines `used PATH` and `made PATH`
 * (the watchdog reads them too); markers of dead servers are swept.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../util/index.js';
import { FileLock } from './file-lock.js';
import { mountedElsewhere } from './foreign-mounts.js';
import { ownerFile, type ServerDirectory } from './server-directory.js';

export type MountPoint = { readonly path: string; readonly absent: boolean };

/** A command's hold on its mount points. */
export type MountHold = {
  /** Lets go, and removes what nobody else uses. Never throws; what can't be removed now is left to a later sweep. */
  release(): Promise<void>;
};

type Marker = {
  readonly file: string;
  /** All in use; `made` are those that one of us has made. */
  readonly used: readonly string[];
  readonly made: Set<string>;
};

export class MountRegister {
  readonly #stateDir: string;
  readonly #server: ServerDirectory;
  readonly #lock: FileLock;
  #count = 0;

  constructor(stateDir: string, server: ServerDirectory) {
    this.#stateDir = stateDir;
    this.#server = server;
    this.#lock = new FileLock(join(stateDir, 'mounts.lock'), ownerFile(server));
    mkdirSync(join(server.path, 'mounts'), { recursive: true, mode: 0o700 });
  }

  /**
   * `plan` is called under the lock and says what is needed; what is absent is made. Throws when that is not possible.
   */
  async hold<T extends { readonly mountPoints: readonly MountPoint[] }>(plan: () => T): Promise<[T, MountHold]> {
    return this.#lock.run(() => {
      const planned = plan();
      if (planned.mountPoints.length === 0) return [planned, NOTHING_HELD];
      const marker = this.#mark(planned.mountPoints);
      try {
        for (const { path, absent } of planned.mountPoints) if (absent) makeDirectory(path);
      } catch (error) {
        this.#drop(marker);
        throw error;
      }
      return [planned, { release: () => this.#release(marker) }];
    });
  }

  /** Removes what a server has left that is no more. False: something is still in use, and its folder must stay. */
  sweep(dead: ServerDirectory): Promise<boolean> {
    return this.#repeat(() =>
      readMarkers(dead.path)
        .map(marker => this.#drop(marker))
        .every(Boolean),
    );
  }

  #mark(points: readonly MountPoint[]): Marker {
    const made = new Set(points.filter(point => point.absent).map(point => point.path));
    const present = points.filter(point => !point.absent).map(point => point.path);
    for (const path of present.length === 0 ? [] : this.#madeByUs(present)) made.add(path);
    const marker: Marker = {
      file: join(this.#server.path, 'mounts', `${++this.#count}`),
      used: points.map(point => point.path),
      made,
    };
    writeMarker(marker);
    return marker;
  }

  /** Of empty folders that are there: those that some command of ours made, the rest belongs to the person. */
  #madeByUs(paths: readonly string[]): string[] {
    const known = new Set(this.#allMarkers().flatMap(marker => [...marker.made]));
    const unexplained = paths.filter(path => !known.has(path));
    // One that no marker explains is another home's when something is mounted there.
    const foreign = unexplained.length === 0 ? new Set<string>() : mountedElsewhere(unexplained);
    return paths.filter(path => known.has(path) || foreign.has(path));
  }

  async #release(marker: Marker): Promise<void> {
    try {
      await this.#repeat(() => this.#drop(marker));
    } catch {
      // The lock could not be had in time. The marker stays, and a later sweep finds it.
    }
  }

  /** Other users may be about to end, and the last processes of a sandbox end a moment after it. */
  async #repeat(attempt: () => boolean): Promise<boolean> {
    for (const pause of [5, 30, 200, 700]) {
      if (await this.#lock.run(attempt)) return true;
      await sleep(pause);
    }
    return this.#lock.run(attempt);
  }

  /** Under the lock. False: something could not be removed yet, and the marker stays. */
  #drop(marker: Marker): boolean {
    const others = new Set(
      this.#allMarkers()
        .filter(m => m.file !== marker.file)
        .flatMap(m => m.used),
    );
    const free = [...marker.made].filter(path => !others.has(path));
    const busy = free.length === 0 ? new Set<string>() : mountedElsewhere(free);
    for (const path of free) if (!busy.has(path)) removeEmptyDirectory(path);
    if (busy.size > 0) writeMarker({ file: marker.file, used: [], made: busy });
    else unlinkSync(marker.file);
    return busy.size === 0;
  }

  #allMarkers(): Marker[] {
    const servers = join(this.#stateDir, 'servers');
    return readdirSync(servers).flatMap(id => readMarkers(join(servers, id)));
  }
}

const NOTHING_HELD: MountHold = { release: () => Promise.resolve() };

function readMarkers(server: string): Marker[] {
  const folder = join(server, 'mounts');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // A server that never made any.
    return [];
  }
  return names.flatMap(name => {
    const file = join(folder, name);
    const text = readText(file);
    return text === null ? [] : [{ file, used: pathsOf(text, 'used '), made: new Set(pathsOf(text, 'made ')) }];
  });
}

function writeMarker({ file, used, made }: Marker): void {
  const lines = [
    ...used.map(path => `used ${escapePath(path)}\n`),
    ...[...made].map(path => `made ${escapePath(path)}\n`),
  ];
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

function pathsOf(text: string, prefix: string): string[] {
  return text.split('\n').flatMap(line => (line.startsWith(prefix) ? [unescapePath(line.slice(prefix.length))] : []));
}

/** Line ends, and blanks that a shell would cut off, become `\x0a` and the like. */
function escapePath(path: string): string {
  return path.replace(/[\\\n\t]|^\s|\s$/g, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function unescapePath(text: string): string {
  return text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Its command ended meanwhile.
    return null;
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    // Made by somebody else a moment ago: it is covered all the same.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function removeEmptyDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody has put something into it, or it is gone: then it is not ours to remove.
  }
}
