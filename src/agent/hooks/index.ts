/**
 * Hooks: programs of the person that are run at certain moments of a thread and may say something about it, and the
 * `notify` program. They are never run for a project that is not trusted, and a broken one never breaks a turn.
 */
export { createHooks, createNotifier } from './for-thread.js';
export type { Notifier } from './notify.js';
export type { ThreadHooks, TurnHooks } from './thread-hooks.js';
export type { ToolUse } from './tool-use.js';
