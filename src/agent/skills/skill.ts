/** A skill: a folder with a SKILL.md, which says in its head what it is for and below that how it is done. */
import { basename, dirname } from 'node:path';
import { parseFrontMatter } from './front-matter.js';

export type Skill = {
  /** One line, what a prompt mentions as `$name`. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Absolute path of its SKILL.md, as it was found (links not resolved). */
  readonly file: string;
};

const MAX_DESCRIPTION = 1024;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:-]{0,63}$/u;
/** Such a path would break the lines of the list, or end its block. */
const UNPRINTABLE = /[\u0000-\u001f\u007f<>]/;

/** `head`: the beginning of the file. A text is what is wrong with it. */
export function readSkill(file: string, head: string): Skill | string {
  if (UNPRINTABLE.test(file)) return 'its path has characters that can not be shown';
  const parsed = parseFrontMatter(head);
  if (!parsed) return 'it does not begin with a head of `name: …` and `description: …` between two lines `---`';
  const name = oneLine(parsed.fields.get('name') ?? basename(dirname(file)));
  if (!NAME.test(name)) return 'its name may only hold letters, digits, blanks and . _ : - and at most 64 of them';
  const description = oneLine(parsed.fields.get('description') ?? '');
  if (description === '') return 'its head has no description';
  return { name, description: cut(description, MAX_DESCRIPTION), file };
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').trim();
}

/** At most `length` characters. */
export function cut(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
