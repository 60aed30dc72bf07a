/** Leaf helpers that know no word of the domain. They import nothing of ours and keep no state. */
export * from './abort.js';
export * from './backoff.js';
export * from './build-info.js';
export * from './env.js';
export * from './errors.js';
export type { FileComparison, FileState } from './git-diff.js';
export * from './git-environment.js';
export * from './json.js';
export * from './line-splitter.js';
export * from './load-diffs.js';
export * from './pattern.js';
export * from './process-identity.js';
export * from './reserve-stdout.js';
export * from './shell-words.js';
export * from './trace-context.js';
export * from './tracer.js';
export * from './truncate.js';
