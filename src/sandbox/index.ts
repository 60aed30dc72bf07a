/**
 * Runs one command under a SandboxPolicy; the only door to child processes. It must never run a command with more
 * rights than its policy gives: what can't be enforced is refused. It decides nothing about approvals. `planning` and
 * `seccomp` are what it would do, as data.
 */
export { type DomainProxyParts, loadDomainProxy } from './domain-access.js';
export type { Dialer } from './domain-proxy/gate.js';
export type { SandboxOptions } from './equipment.js';
export { explainDenial } from './explain-denial.js';
export { describeWhy, pathAccess, readableProblem } from './path-access.js';
export * as planning from './planning.js';
export { describePolicy, type PathFacts, policyEnvironment, sandboxEntries, writableRoots } from './policy-paths.js';
export { protectedPaths } from './read-layout.js';
export { type Collected, runToEnd } from './run-to-end.js';
export { createSandbox, type Sandbox } from './sandbox.js';
export * as seccomp from './seccomp/index.js';
