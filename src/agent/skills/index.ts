/**
 * Skills: folders with a SKILL.md that a person or a project keeps. They are read and shown to the model; nothing in
 * them is ever run from here, and a broken one never breaks a turn.
 */
export { ThreadSkills } from './thread-skills.js';
