/** The policy's answer about one path, for what does not run as a command: patches, images, files that are read. */
import type { SandboxPolicy } from '../protocol/index.js';
import { accessAt, type PathAccess, type Why } from './layout.js';
import { describePolicy } from './policy-paths.js';
import { type LayoutFacts, readLayout, realPathOf } from './read-layout.js';

/**
 * May the path be read, written? By the same rules as the mounts of a command. `realPath`: absolute, links resolved,
 * at least those of its folder; it need not exist. Reads the disk, changes nothing.
 */
export function pathAccess(policy: SandboxPolicy, facts: LayoutFacts, realPath: string): PathAccess {
  return accessAt(readLayout(policy, facts), realPath);
}

/** Why a file may not be read, for the model; null when it may. */
export function readableProblem(policy: SandboxPolicy, facts: LayoutFacts, file: string): string | null {
  const { access } = pathAccess(policy, facts, realPathOf(file) ?? file);
  return access === 'deny' ? `${file} can't be read: it is denied by the ${describePolicy(policy)}.` : null;
}

/** The reason in words, to be put behind "because". */
export function describeWhy(why: Why): string {
  switch (why) {
    case 'outside':
      return 'it lies outside of the writable folders';
    case 'protected':
      return 'it is protected (.git, .codex, .openinterpreter and .agents stay read-only)';
    case 'read_only':
      return 'the policy makes it read-only';
    case 'home':
      return "it belongs to the agent's own home";
    case 'denied':
      return 'the policy denies access to it';
  }
}
