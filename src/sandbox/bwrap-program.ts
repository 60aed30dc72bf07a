/** The bubblewrap of this system: where it is and what it can do. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BWRAP_MISSING, type Problem, untrustedProgram } from './enforcement.js';
import { type Candidate, chooseTrusted, findCandidates } from './find-program.js';

export type BwrapProgram = {
  readonly path: string;
  /** `--bind-fd`: binds an opened folder, so that nobody can put a link in its place. */
  readonly bindsDescriptors: boolean;
};

const run = promisify(execFile);

export class BwrapFinder {
  readonly #candidates: readonly Candidate[];
  readonly #features = new Map<string, Promise<boolean>>();

  constructor(path: string | undefined) {
    this.#candidates = findCandidates('bwrap', path);
  }

  /** `untrusted`: real paths of folders that commands may write in. */
  async find(untrusted: readonly string[]): Promise<BwrapProgram | Problem> {
    const found = chooseTrusted(this.#candidates, untrusted);
    if (found.path === null) {
      return found.rejected.length > 0 ? untrustedProgram('bwrap', found.rejected) : BWRAP_MISSING;
    }
    let bindsDescriptors = this.#features.get(found.path);
    if (bindsDescriptors === undefined) {
      bindsDescriptors = offersBindFd(found.path);
      this.#features.set(found.path, bindsDescriptors);
    }
    return { path: found.path, bindsDescriptors: await bindsDescriptors };
  }
}

async function offersBindFd(path: string): Promise<boolean> {
  try {
    const { stdout } = await run(path, ['--help'], { timeout: 2000 });
    return stdout.includes('--bind-fd');
  } catch {
    // It does not even print its help: the real start will tell why.
    return false;
  }
}
