/**
 * Runs one command under a SandboxPolicy; the only door to child processes. It must never run a command with more
 * rights than its policy gives: what can't be enforced is refused. It decides nothing about approvals.
 */
export { MARKER_VARIABLE } from './process-tree.js';
export { type Collected, type RunToEndOptions, runToEnd } from './run-to-end.js';
export { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.js';
