/** Where a policy applies, for the questions about paths that tools ask the sandbox. */
import type { PathFacts } from '../sandbox/index.js';
import type { ToolFacts } from './tool.js';

/** The root of `workspace-write` is the workspace of the thread, never a directory that a model names. */
export function policyPlaces({ workspace, home, tmpdir }: Omit<ToolFacts, 'call_id'>): PathFacts {
  return { cwd: workspace, home, tmpdir };
}
