/** The documents: what they link to exists, and both languages of the README have the same content. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOMS } from '../../scripts/imports/rooms.js';
import { root } from '../../scripts/root.js';

const FOLDERS = ['.', 'docs', 'examples', 'bench'];
const documents = FOLDERS.flatMap(folder =>
  readdirSync(path.join(root, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => path.join(folder, name)),
);

const read = (document: string) => readFileSync(path.join(root, document), 'utf8');

/** What links point to, in order. */
const linksIn = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

/** The names under which headings can be linked to. */
const anchorsIn = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

function isThere(document: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const full = file === '' ? document : path.join(path.dirname(document), file);
  if (!existsSync(path.join(root, full))) return false;
  return anchor === undefined || anchorsIn(read(full)).includes(anchor);
}

test.each(documents)('%s links to what exists', document => {
  const local = linksIn(read(document)).filter(target => !/^[a-z]+:/.test(target));
  expect(local.filter(target => !isThere(document, target))).toEqual([]);
});

test('every page of docs can be reached from the README', () => {
  const links = new Set(linksIn(read('README.md')));
  expect(documents.filter(document => document.startsWith('docs/') && !links.has(document))).toEqual([]);
});

test('the table of rooms in docs/architecture.md has the rooms there are', () => {
  const [, table = ''] = /^\| room \|.*\n\|[-|]*\n((?:\|.*\n)*)/m.exec(read('docs/architecture.md')) ?? [];
  const told = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, room = '']) => room);
  expect(told.toSorted()).toEqual(Object.keys(ROOMS).toSorted());
  expect(readdirSync(path.join(root, 'src')).toSorted()).toEqual(Object.keys(ROOMS).toSorted());
});

test('the README says the same in both languages', () => {
  /** Code, links and rows: what is the same in every language. */
  const skeleton = (name: string) => {
    const text = read(name).replaceAll(/ *#.*$/gm, '');
    return {
      code: (text.match(/`[^`\n]+`/g) ?? []).toSorted(),
      links: linksIn(text).filter(target => !target.startsWith('README')),
      rows: (text.match(/^\|/gm) ?? []).length,
      headings: (read(name).match(/^## /gm) ?? []).length,
    };
  };
  expect(skeleton('README.zh.md')).toEqual(skeleton('README.md'));
});
