/**
 * Checks the table of rooms: who imports whom, through index.ts only, without cycles, and what only some rooms may
 * use. Prints each breach with its place and the way out; exit status 1 when there is one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { RESTRICTED_GLOBALS, RESTRICTED_PACKAGES, ROOMS } from './imports/rooms.js';
import { readSourceFile, type SourceFile } from './imports/source-file.js';
import { root } from './root.js';

type Breach = { readonly file: string; readonly line: number; readonly message: string };

const src = join(root, 'src');

function main(): void {
  const files = new Map(['src', 'test'].flatMap(typescriptFiles).map(path => [path, read(path)] as const));
  const breaches = [...[...files].flatMap(([path, file]) => breachesOf(path, file)), ...cycles(files)];
  for (const { file, line, message } of breaches) console.error(`${file}:${line}  ${message}`);
  console.log(`${files.size} files, ${breaches.length} imports against the table of rooms`);
  process.exitCode = breaches.length === 0 ? 0 : 1;
}

function typescriptFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.split(sep).includes('fixtures'))
    .map(name => join(root, folder, name));
}

function read(path: string): SourceFile {
  return readSourceFile(path, readFileSync(path, 'utf8'));
}

function breachesOf(path: string, file: SourceFile): Breach[] {
  const found: Breach[] = [];
  const report = (line: number, message: string) => found.push({ file: relative(root, path), line, message });
  const room = roomOf(path);
  if (room !== null && ROOMS[room] === undefined) {
    report(1, `src/${room} is no room: add it to scripts/imports/rooms.ts and CONTRIBUTING.md, or move the file.`);
  }
  if (room !== null && relative(src, path) === join(room, 'index.ts') && !file.opensWithComment) {
    report(1, 'The index.ts of a room opens with a comment: what the room does and what it must never do.');
  }
  for (const { request, line } of file.imports) {
    const message = request.startsWith('.') ? roomBreach(path, room, request) : packageBreach(room, request);
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

/** The room of a file of src; null for a test. */
function roomOf(path: string): string | null {
  const parts = relative(src, path).split(sep);
  return parts[0] === '..' || parts[0] === undefined ? null : parts[0];
}

function roomBreach(path: string, room: string | null, request: string): string | null {
  const target = resolve(dirname(path), request);
  const targetRoom = roomOf(target);
  if (room !== null && targetRoom === null) return `src imports nothing outside src, such as ${request}.`;
  if (targetRoom === null || targetRoom === room) return null;
  if (room !== null && !(ROOMS[room] ?? []).includes(targetRoom)) {
    return `${room}/ may not import ${targetRoom}/ (it may: ${(ROOMS[room] ?? []).join(', ') || 'nothing of ours'}). Take what you need as a parameter typed in protocol/, or move the code.`;
  }
  if (relative(src, target) !== join(targetRoom, 'index.js')) {
    const through = `import it from ${targetRoom}/index.js, and export it there if other rooms should have it`;
    return room === null
      ? `Tests go through a public door: ${through}.`
      : `Another room is entered through its door: ${through}.`;
  }
  return null;
}

function packageBreach(room: string | null, request: string): string | null {
  if (room === null) return null;
  const rule = RESTRICTED_PACKAGES.find(({ packages }) => packages.test(request));
  if (rule === undefined || rule.rooms.includes(room)) return null;
  return `${request}: ${rule.what} is for ${rule.rooms.join(', ') || 'tests'} only: ${rule.advice}.`;
}

/** Each cycle once, at the file of it that comes first in the alphabet. */
function cycles(files: ReadonlyMap<string, SourceFile>): Breach[] {
  const found: Breach[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const names = [...trail.slice(start), path].map(name => relative(root, name));
      const file = names.toSorted()[0] ?? '';
      found.push({
        file,
        line: 1,
        message: `Import cycle: ${names.join(' -> ')}. Move what both need to a third file.`,
      });
      return;
    }
    if (done.has(path)) return;
    for (const { request } of files.get(path)?.imports ?? []) {
      const target = resolve(dirname(path), request).replace(/\.js$/, '.ts');
      if (request.startsWith('.') && files.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of [...files.keys()].sort()) visit(path, []);
  return found;
}

main();
