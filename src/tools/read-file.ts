/** Reads a file, or lines of it, and numbers them. In this process: most calls of a model are reads. */
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { readableProblem } from '../sandbox/index.js';
import { hasCode, messageOf } from '../util/index.js';
import { FileLines } from './apply-patch/index.js';
import { policyPlaces } from './policy-places.js';
import { showLookup } from './show-lookup.js';
import type { ToolAction, ToolContext, ToolResult } from './tool.js';
import { viewImage } from './view-image.js';

/** Larger files are for commands that read a part. */
const MAX_BYTES = 32 * 1024 * 1024;
const DEFAULT_LINES = 2000;
/** Longer lines are cut, in characters. */
const MAX_LINE = 2000;
/** In this process they show this process: its environment with its keys, what it has open. */
const OURS = /^\/(?:proc|sys|dev)(?:\/|$)/;
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

export type ReadFileCall = {
  /** Absolute, or relative to the working directory. */
  readonly path: string;
  /** The first line, from 1; a negative number counts from the end. Default 1. */
  readonly offset?: number | undefined;
  /** The most lines. Default 2000. */
  readonly limit?: number | undefined;
  /** Whether the model can be shown pictures. */
  readonly images: boolean;
  /** The argument that a model gives the first line in, and the number it has for the first of all. */
  readonly position: { readonly name: string; readonly base: 0 | 1 };
};

export const readFile: ToolAction<ReadFileCall> = {
  parallel: true,
  plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
  run,
};

async function run(call: ReadFileCall, context: ToolContext): Promise<ToolResult> {
  const file = path.resolve(context.cwd, call.path);
  if (IMAGE.test(file)) return readImage(call, file, context);
  const lookup = showLookup(
    context,
    ['read_file', file],
    [{ type: 'read', cmd: `read_file ${file}`, name: path.basename(file), path: file }],
  );
  const read = readText(file, context);
  const shown = typeof read === 'string' ? { text: read, failed: true } : numbered(read, call, context, file);
  lookup.end(shown.text, !shown.failed);
  return { output: shown.text, is_error: shown.failed };
}

function readImage(call: ReadFileCall, file: string, context: ToolContext): Promise<ToolResult> {
  if (call.images) return viewImage({ path: file }, context);
  const output = `${file} is a picture, and you can't be shown pictures.`;
  return Promise.resolve({ output, is_error: true });
}

/** The bytes of the file; a text is why they can't be shown. */
function readText(file: string, context: ToolContext): Buffer | string {
  try {
    const problem = kindProblem(file, statSync(file));
    if (problem) return problem;
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Asked about what was opened, which a link that was changed meanwhile can't make another file.
      const opened = realPathOf(fd) ?? file;
      if (OURS.test(opened)) return `${file} is a view into this process. Read it with a command, which has its own.`;
      const denied = readableProblem(context.policy, policyPlaces(context), opened);
      if (denied) return denied;
      const later = kindProblem(file, fstatSync(fd));
      if (later) return later;
      const bytes = readFileSync(fd);
      if (!bytes.subarray(0, 8000).includes(0)) return bytes;
      return `${file} is not a text file (${bytes.length} bytes, some of them NUL). Use a command to look into it.`;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return `${file} does not exist.`;
    return `${file} can't be read: ${messageOf(error)}`;
  }
}

function kindProblem(file: string, stat: Stats): string | null {
  if (stat.isDirectory()) return `${file} is a directory. List it with a command.`;
  if (!stat.isFile()) return `${file} is not a regular file.`;
  if (stat.size <= MAX_BYTES) return null;
  return `${file} has ${stat.size} bytes; files of up to ${MAX_BYTES} can be read. Use a command to read a part of it.`;
}

function realPathOf(fd: number): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // No /proc here: the path as it stands has to do.
    return null;
  }
}

type Shown = { text: string; failed: boolean };

function numbered(bytes: Buffer, call: ReadFileCall, context: ToolContext, file: string): Shown {
  const lines = new FileLines(bytes);
  if (lines.count === 0) return { text: `(${file} is empty)`, failed: false };
  const first = firstLine(call.offset, lines.count);
  if (first >= lines.count) {
    return { text: `${file} has ${lines.count} lines; there is none at line ${first + 1}.`, failed: true };
  }
  const end = Math.min(lines.count, first + Math.max(1, Math.floor(call.limit ?? DEFAULT_LINES)));
  const out: string[] = [];
  let size = 0;
  for (let at = first; at < end; at++) {
    const line = `${String(at + 1).padStart(6)}\t${cutLine(lines.text(at))}`;
    size += Buffer.byteLength(line) + 1;
    // The first line is always shown: without it the model could not go on.
    if (size > context.output_budget_bytes && out.length > 0) break;
    out.push(line);
  }
  const last = first + out.length;
  if (last < lines.count) {
    const { name, base } = call.position;
    out.push(`(lines ${first + 1} to ${last} of ${lines.count}; go on with ${name} ${last + base})`);
  } else if (first > 0) {
    out.push(`(the end; ${lines.count} lines in all)`);
  }
  return { text: out.join('\n'), failed: false };
}

/** From 0. */
function firstLine(offset: number | undefined, count: number): number {
  if (offset === undefined || !Number.isFinite(offset)) return 0;
  return offset < 0 ? Math.max(0, count + Math.ceil(offset)) : Math.max(0, Math.floor(offset) - 1);
}

function cutLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  // Half of a surrogate pair is no text that could be sent.
  const kept = line.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, '');
  return `${kept}… (${line.length - kept.length} characters more)`;
}
