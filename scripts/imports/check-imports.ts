import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { RESTRICTED_GLOBALS, RESTRICTED_PACKAGES, ROOMS } from './rooms.js';
import { readSourceFile, type SourceFile } from './source-file.js';

/** `file` is relative to the checked folder; `message` says what is wrong and the way out. */
export type Breach = { readonly file: string; readonly line: number; readonly message: string };

/** Path relative to the checked folder, with "/" -> what is in it. */
type Files = ReadonlyMap<string, SourceFile>;

/** Checks the TypeScript files below `src` and `test` of a folder. Throws when one of them does not parse. */
export function checkImports(folder: string): { readonly files: number; readonly breaches: readonly Breach[] } {
  const paths = ['src', 'test'].flatMap(name => typescriptFiles(folder, name));
  const files: Files = new Map(
    paths.map(path => [path, readSourceFile(path, readFileSync(join(folder, path), 'utf8'))]),
  );
  const breaches = [...[...files].flatMap(([path, file]) => breachesOf(path, file)), ...cycles(files)];
  return { files: files.size, breaches };
}

function typescriptFiles(folder: string, name: string): string[] {
  if (!existsSync(join(folder, name))) return [];
  return readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
    .map(path => posix.join(name, path.replaceAll('\\', '/')))
    .filter(path => path.endsWith('.ts') && !path.split('/').includes('fixtures'));
}

function breachesOf(path: string, file: SourceFile): Breach[] {
  const found: Breach[] = [];
  const report = (line: number, message: string) => found.push({ file: path, line, message });
  const room = roomOf(path);
  if (room !== null && ROOMS[room] === undefined) {
    report(1, `src/${room} is no room: add it to scripts/imports/rooms.ts and CONTRIBUTING.md, or move the file.`);
  }
  if (path === `src/${room}/index.ts` && !file.opensWithComment) {
    report(1, 'The index.ts of a room opens with a comment: what the room does and what it must never do.');
  }
  for (const { request, names, line } of file.imports) {
    const message = request.startsWith('.') ? roomBreach(path, room, request) : packageBreach(room, request, names);
    if (message !== null) report(line, message);
  }
  for (const { property, line } of room === null ? [] : file.processProperties) {
    const rule = RESTRICTED_GLOBALS.find(restricted => restricted.property === property);
    if (rule !== undefined && !rule.rooms.includes(room ?? '')) {
      report(line, `${rule.what} is for ${rule.rooms.join(', ')} only: ${rule.advice}.`);
    }
  }
  return found;
}

/** The room of a path below src; null elsewhere. */
function roomOf(path: string): string | null {
  const [top, room] = path.split('/');
  return top === 'src' && room !== undefined ? room : null;
}

function roomBreach(path: string, room: string | null, request: string): string | null {
  const target = posix.join(posix.dirname(path), request);
  const targetRoom = roomOf(target);
  if (targetRoom === null) return room === null ? null : `src imports nothing outside src, such as ${request}.`;
  if (targetRoom === room) return null;
  const allowed = room === null ? null : (ROOMS[room] ?? []);
  if (allowed !== null && !allowed.includes(targetRoom)) {
    return `${room}/ may not import ${targetRoom}/ (it may: ${allowed.join(', ') || 'nothing of ours'}). Take what you need as a parameter typed in protocol/, or move the code.`;
  }
  if (target === `src/${targetRoom}/index.js`) return null;
  // Nothing imports cli/, so it has no door; its tests take the file they are about.
  if (room === null && targetRoom === 'cli') return null;
  const who = room === null ? 'Tests go through a public door' : 'Another room is entered through its door';
  return `${who}: import it from ${targetRoom}/index.js, and export it there if others should have it.`;
}

function packageBreach(room: string | null, request: string, names: readonly string[]): string | null {
  if (room === null) return null;
  if (request === 'zod' && names.includes('z')) {
    return "Write `import * as z from 'zod'`: the object z holds all of zod and its translations, and every start would load them.";
  }
  const rule = RESTRICTED_PACKAGES.find(({ packages }) => packages.test(request));
  if (rule === undefined || rule.rooms.includes(room)) return null;
  return `${request}: ${rule.what} is for ${rule.rooms.join(', ') || 'tests'} only: ${rule.advice}.`;
}

/** Each cycle is reported at the file of it that comes first in the alphabet. */
function cycles(files: Files): Breach[] {
  const found: Breach[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const cycle = trail.slice(start);
      const message = `Import cycle: ${[...cycle, path].join(' -> ')}. Move what both need to a third file.`;
      found.push({ file: cycle.toSorted()[0] ?? path, line: 1, message });
      return;
    }
    if (done.has(path)) return;
    for (const { request } of files.get(path)?.imports ?? []) {
      const target = posix.join(posix.dirname(path), request).replace(/\.js$/, '.ts');
      if (request.startsWith('.') && files.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of [...files.keys()].sort()) visit(path, []);
  return found;
}
