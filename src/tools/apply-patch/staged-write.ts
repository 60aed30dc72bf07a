/** One file of a patch on its way to disk: prepared beside its target, put in place by a rename, taken back if need be. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { hasCode } from '../../util/index.js';
import type { PlannedWrite } from './plan-patch.js';
import { PatchRefusal } from './refusal.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const SET_ID_BITS = 0o6000;

export type StageOptions = {
  readonly write: PlannedWrite;
  /** Paths in the same directory. */
  readonly target: string;
  readonly temporary: string;
  /** Where the present file is kept until everything is written; null = undoing is not needed. */
  readonly backup: string | null;
  /** True when a sandbox policy holds. */
  readonly confined: boolean;
};

export class StagedWrite {
  readonly write: PlannedWrite;
  readonly #options: StageOptions;
  /** What stood at the target when the content was verified; null = nothing. */
  #present: BigIntStats | null = null;
  /** What is to stand there: the temporary file, also after its rename. */
  #fresh: BigIntStats | null = null;
  #inPlace = false;
  #committed = false;

  constructor(options: StageOptions) {
    this.write = options.write;
    this.#options = options;
  }

  /** True while the target is not as it was. */
  get changed(): boolean {
    return this.#committed;
  }

  /** Where the old file is kept meanwhile; null = nowhere. */
  get backupName(): string | null {
    const { backup } = this.#options;
    return backup && path.join(path.dirname(this.write.real), path.basename(backup));
  }

  /** Verifies the present content, writes the new one to the temporary file and keeps a way back. */
  prepare(): void {
    this.#present = this.#verify();
    const { after } = this.write;
    if (after) this.#writeTemporary(after.bytes);
    this.#keepBackup();
  }

  commit(): void {
    this.#assertUnchanged();
    const { target, temporary, backup } = this.#options;
    if (!this.write.after) {
      if (backup) renameSync(target, backup);
      else unlinkSync(target);
    } else if (this.#inPlace) {
      this.#committed = true;
      this.#overwrite(this.write.after.bytes);
    } else if (this.#present) {
      this.#replace();
    } else {
      moveToFree(temporary, target, () => changedMeanwhile(this.write.path));
    }
    this.#committed = true;
  }

  /** Puts back what was there, if `commit` changed it. Throws when that is not possible. */
  undo(): void {
    if (!this.#committed) return;
    const { target, backup } = this.#options;
    if (this.#inPlace) this.#overwrite(bytesBefore(this.write));
    else if (!this.write.after && backup) moveToFree(backup, target, () => changedMeanwhile(this.write.path));
    else if (this.#ours()) this.#restore();
    this.#committed = false;
  }

  /** Removes what `prepare` made beside the target. */
  discard(): void {
    removeIfThere(this.#options.temporary);
    if (!this.#committed) this.discardBackup();
  }

  discardBackup(): void {
    if (this.#options.backup) removeIfThere(this.#options.backup);
  }

  /** The target must be what the plan saw. */
  #verify(): BigIntStats | null {
    const { before, path: name } = this.write;
    const { target } = this.#options;
    const stat = lstatSync(target, { bigint: true, throwIfNoEntry: false }) ?? null;
    switch (before.type) {
      case 'absent':
        if (stat) throw changedMeanwhile(name);
        return null;
      case 'link':
        if (!stat?.isSymbolicLink() || readlinkSync(target) !== before.target) throw changedMeanwhile(name);
        return stat;
      case 'file':
        if (!stat?.isFile()) throw changedMeanwhile(name);
        if (before.bytes === null ? !sameFile(stat, before.stat) : !this.#holds(before.bytes))
          throw changedMeanwhile(name);
        return stat;
    }
  }

  #holds(bytes: Buffer): boolean {
    const fd = openSync(this.#options.target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      return stat.isFile() && stat.size === bytes.length && readFileSync(fd).equals(bytes);
    } finally {
      closeSync(fd);
    }
  }

  #writeTemporary(bytes: Buffer): void {
    const like = this.#present?.isFile() ? this.#present : (this.write.after?.like ?? null);
    let fd: number;
    try {
      fd = openSync(this.#options.temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, like ? 0o600 : 0o666);
    } catch (error) {
      if (!this.#present?.isFile() || !hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
      this.#useInPlace(error);
      return;
    }
    try {
      writeAll(fd, bytes);
      if (like) this.#takeOver(fd, like);
      this.#fresh = fstatSync(fd, { bigint: true });
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Mode and owner stay. Under a sandbox policy the set-user-id bits go, as they would if a command of the sandbox wrote
   * the file: nobody shall run new content with the rights of its owner.
   */
  #takeOver(fd: number, like: BigIntStats): void {
    const own = fstatSync(fd, { bigint: true });
    if (own.uid !== like.uid || own.gid !== like.gid) {
      try {
        fchownSync(fd, Number(like.uid), Number(like.gid));
      } catch (error) {
        // Only root can give files away; the file then belongs to us.
        if (!hasCode(error, 'EPERM', 'EINVAL', 'ENOSYS')) throw error;
      }
    }
    const mode = Number(like.mode) & 0o7777;
    fchmodSync(fd, this.#options.confined ? mode & ~SET_ID_BITS : mode);
  }

  /** A directory that takes no new files (or a file that is a mount point) leaves only the file itself to write to. */
  #useInPlace(cause: unknown): void {
    const { confined } = this.#options;
    if (confined && this.#present && this.#present.nlink > 1n) {
      throw new PatchRefusal(
        `cannot write ${this.write.path}: its directory takes no new files, and the file has other names (hard links) that may lie outside of the writable folders`,
        { cause },
      );
    }
    closeSync(openSync(this.#options.target, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
    this.#inPlace = true;
  }

  #overwrite(bytes: Buffer): void {
    const fd = openSync(this.#options.target, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (fstatSync(fd, { bigint: true }).ino !== this.#present?.ino) throw changedMeanwhile(this.write.path);
      writeAll(fd, bytes);
      ftruncateSync(fd, bytes.length);
    } finally {
      closeSync(fd);
    }
  }

  #replace(): void {
    const { target, temporary } = this.#options;
    try {
      renameSync(temporary, target);
    } catch (error) {
      if (!hasCode(error, 'EBUSY') || !this.#present?.isFile()) throw error;
      this.#useInPlace(error);
      this.#committed = true;
      this.#overwrite(this.write.after?.bytes ?? Buffer.alloc(0));
    }
  }

  /** A second name for the present file: going back then needs no space and gives back the very same file. */
  #keepBackup(): void {
    const { backup, target } = this.#options;
    if (!backup || !this.#present || !this.write.after || this.#inPlace) return;
    try {
      linkSync(target, backup);
    } catch (error) {
      // File systems without hard links: the bytes in memory are the way back.
      if (!isLinkUnsupported(error)) throw error;
    }
  }

  #assertUnchanged(): void {
    const now = lstatSync(this.#options.target, { bigint: true, throwIfNoEntry: false }) ?? null;
    const same = now === null || this.#present === null ? now === this.#present : sameFile(now, this.#present);
    if (!same) throw changedMeanwhile(this.write.path);
  }

  /** True when the target is still the file that `commit` put there. */
  #ours(): boolean {
    const now = lstatSync(this.#options.target, { bigint: true, throwIfNoEntry: false });
    if (now && this.#fresh && now.ino === this.#fresh.ino && now.dev === this.#fresh.dev) return true;
    throw new PatchRefusal(`${this.write.path} (another program has changed it since)`);
  }

  #restore(): void {
    const { target, temporary, backup } = this.#options;
    if (!this.#present) {
      unlinkSync(target);
      return;
    }
    if (backup && lstatSync(backup, { throwIfNoEntry: false })) {
      renameSync(backup, target);
      return;
    }
    this.#writeTemporary(bytesBefore(this.write));
    renameSync(temporary, target);
  }
}

function bytesBefore({ before }: PlannedWrite): Buffer {
  return before.type === 'file' && before.bytes ? before.bytes : Buffer.alloc(0);
}

/** Renames, never over something that is there. */
function moveToFree(from: string, to: string, occupied: () => PatchRefusal): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw occupied();
    if (!isLinkUnsupported(error)) throw error;
    if (lstatSync(to, { throwIfNoEntry: false })) throw occupied();
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

function isLinkUnsupported(error: unknown): boolean {
  return hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV');
}

function sameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.mode === b.mode;
}

function changedMeanwhile(name: string): PatchRefusal {
  return new PatchRefusal(`${name} was changed meanwhile by another program: read it again and send a new patch`);
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) return; // The directory takes no changes any more; nothing is left to try.
  }
}
