/** The text of a skill as it goes into the history when a prompt mentions it. */
import { parseFrontMatter } from './front-matter.js';
import { readHead } from './read-head.js';
import type { Skill } from './skill.js';

/** Of one skill. */
const MAX_SKILL_BYTES = 48 * 1024;

/** The `<skill>` block. Rejects when the file can't be read. */
export async function skillMessage(skill: Skill): Promise<string> {
  const text = await readHead(skill.file, MAX_SKILL_BYTES);
  const body = (parseFrontMatter(text)?.body ?? text).trim();
  const note =
    Buffer.byteLength(text) < MAX_SKILL_BYTES - 3
      ? ''
      : `\n[The skill goes on: only its first ${MAX_SKILL_BYTES} bytes are shown. Read the rest in its file.]`;
  // The body can not end its own block.
  const inner = body.replaceAll(/<\/skill>/gi, '&lt;/skill>');
  return `<skill>\n<name>${skill.name}</name>\n<path>${skill.file}</path>\n${inner}${note}\n</skill>`;
}
