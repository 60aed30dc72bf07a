/** Rollouts that were packed with zstd to save space. Node can unpack them since 22.15. */
import { createReadStream, promises, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import * as zlib from 'node:zlib';

const ENDING = '.zst';

export function isPacked(path: string): boolean {
  return path.endsWith(ENDING);
}

/** The path of the same file unpacked. */
export function withoutPacking(path: string): string {
  return isPacked(path) ? path.slice(0, -ENDING.length) : path;
}

/** The content of a packed file. Throws when this version of Node cannot unpack it. */
export function unpacked(path: string): AsyncIterable<Buffer> {
  // The types are those of the oldest version of Node, which lacks it.
  const unpack: unknown = 'createZstdDecompress' in zlib ? zlib.createZstdDecompress : null;
  if (typeof unpack !== 'function') throw cannotUnpack(path);
  const stream = unpack() as NodeJS.ReadWriteStream & AsyncIterable<Buffer>;
  const source = createReadStream(path);
  source.on('error', error => stream.emit('error', error));
  return source.pipe(stream);
}

/** A whole file as text, unpacked where it is packed. */
export async function readRolloutText(path: string): Promise<string> {
  if (!isPacked(path)) return promises.readFile(path, 'utf8');
  const chunks: Buffer[] = [];
  for await (const chunk of unpacked(path)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Puts the unpacked file in the place of the packed one, so that it can be appended to. */
export function unpackInPlace(path: string): void {
  const unpack: unknown = 'zstdDecompressSync' in zlib ? zlib.zstdDecompressSync : null;
  if (typeof unpack !== 'function') throw cannotUnpack(path);
  const target = withoutPacking(path);
  const unfinished = `${target}.unpacking`;
  writeFileSync(unfinished, unpack(readFileSync(path)) as Buffer, { mode: 0o600 });
  renameSync(unfinished, target);
  rmSync(path);
}

function cannotUnpack(path: string): Error {
  return new Error(`it is packed with zstd, which needs Node 22.15 or later. Unpack it: zstd -d --rm "${path}"`);
}
