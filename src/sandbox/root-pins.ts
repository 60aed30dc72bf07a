/** Where the writable folders of policies really were when each was first used. */
import type { SandboxPolicy } from '../protocol/index.js';
import type { Problem } from './enforcement.js';
import { type PathFacts, writableRoots } from './policy-paths.js';
import { realPathOf } from './read-layout.js';

export class RootPins {
  readonly #real = new Map<string, string>();

  /**
   * The real paths of the writable folders that exist, or a problem when one leads elsewhere than before: a command of
   * another thread, whose folder holds this one, may have put a link in its place.
   */
  check(policy: SandboxPolicy, facts: PathFacts): string[] | Problem {
    const found: string[] = [];
    for (const root of writableRoots(policy, facts)) {
      const real = realPathOf(root);
      if (real === null || real === '/') continue;
      const before = this.#real.get(root) ?? real;
      this.#real.set(root, before);
      if (before !== real) {
        return {
          cause: `${root} was ${before} before and now leads to ${real}`,
          advice: 'put the folder back, or start a new server if the change was meant',
        };
      }
      found.push(real);
    }
    return found;
  }
}
