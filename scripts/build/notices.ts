import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../root.js';
import type { Bundle } from './bundle.js';

/** Writes THIRD-PARTY-NOTICES.txt: the licences of the packages whose code is in the bundles. */
export async function writeNotices(outdir: string, bundles: readonly Bundle[]): Promise<void> {
  const inputs = bundles.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap(out => Object.entries(out.inputs)),
  );
  const folders = new Set<string>();
  for (const [path, { bytesInOutput }] of inputs) {
    const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
  }
  const notices = await Promise.all([...folders].sort().map(folder => notice(join(root, folder))));
  await writeFile(join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
}

async function notice(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
  const names = (await readdir(folder)).filter(name => /^(licen[cs]e|notice|copying)/i.test(name)).sort();
  const texts = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')));
  return [`${manifest.name} ${manifest.version} (${manifest.license})`, ...texts.map(text => text.trim()), ''].join(
    '\n\n',
  );
}
