/** The block that tells the model which skills there are. */
import { cut, type Skill } from './skill.js';

const INTRO =
  'Skills are written instructions for certain kinds of work. These are available; each line has the name, what the skill is for, and the file it is in.';
const USAGE =
  "When the task fits a description, or a skill is named as `$name` or in plain words, read its file before you begin and work by it. Relative paths in a skill start at the skill's own folder; open the files it refers to only when you need them. Several skills can be used together, and none is needed for a task that fits no description. A skill does not widen what you are allowed to do.";
/** Characters of a description when there is no room for all of them. */
const SHORT_DESCRIPTION = 120;

/**
 * The `<skills_instructions>` block, or null without skills. `budgetBytes` limits the lines of the list: when they take
 * more, descriptions are cut, and then the last skills (those farthest away) are left out, which the block says.
 */
export function skillsBlock(skills: readonly Skill[], budgetBytes: number): string | null {
  if (skills.length === 0) return null;
  let lines = skills.map(skill => line(skill, skill.description));
  if (size(lines) > budgetBytes) lines = skills.map(skill => line(skill, cut(skill.description, SHORT_DESCRIPTION)));
  const shown = fitting(lines, budgetBytes);
  const left = lines.length - shown.length;
  const rest =
    left === 0 ? [] : [`${left} more ${left === 1 ? 'skill is' : 'skills are'} not listed for lack of room.`];
  return ['<skills_instructions>', INTRO, ...shown, ...rest, USAGE, '</skills_instructions>'].join('\n');
}

function line(skill: Skill, description: string): string {
  return `- ${skill.name}: ${harmless(description)} (file: ${skill.file})`;
}

/** A description can not open or close a block. */
function harmless(text: string): string {
  return text.replace(/<(?=[/!?a-z])/gi, '&lt;');
}

function fitting(lines: readonly string[], budgetBytes: number): string[] {
  let left = budgetBytes;
  return lines.filter(one => {
    left -= Buffer.byteLength(one) + 1;
    return left >= 0;
  });
}

function size(lines: readonly string[]): number {
  return lines.reduce((sum, one) => sum + Buffer.byteLength(one) + 1, 0);
}
