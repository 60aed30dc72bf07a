/**
 * The words every room speaks: thread, turn, item, event, approval, sandbox policy, history, model request.
 * Types and pure functions only; no I/O, and nothing of ours is imported here.
 */
export * from './action.js';
export * from './approval.js';
export * from './command.js';
export * from './event.js';
export * from './history.js';
export * from './item.js';
export * from './jsonl.js';
export * from './model.js';
export * from './policy.js';
export * from './settings.js';
export * from './thread.js';
export * from './turn-item.js';
