/**
 * Profiles: how the tools look to a family of models. A profile gives tools other names, arguments and words; what they
 * do, what they may do and what is told about it stays that of the native ones. It never decides anything by the wire.
 */
export { chooseProfile } from './choose-profile.js';
export type { Profile } from './profile.js';
export { createThreadProfile, prepareTools, type ThreadProfile } from './thread-profile.js';
