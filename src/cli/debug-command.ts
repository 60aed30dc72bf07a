/** `interpreter debug bundle`: one archive for a bug report. Says what is in it before it is written. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type BundleFile, type CollectOptions, collect } from './debug/collect.js';
import type { Output } from './output.js';
import { refusing } from './refusing.js';
import { formatSize } from './threads-text.js';

export type BundleOptions = CollectOptions & {
  /** Where it goes; must not exist. Default: a name with the time, in the working directory. */
  readonly output?: string;
  /** Whether it may be written, once the person knows what it holds. */
  readonly confirm: (question: string) => Promise<boolean>;
};

/** Returns the exit status: 1 when nothing was written. */
export async function bundleCommand(options: BundleOptions, output: Output): Promise<number> {
  return refusing(output, async () => {
    const files = await collect(options);
    const file = path.resolve(options.load.process_cwd, options.output ?? defaultName());
    output.out(listing(files));
    if (!(await options.confirm(`Write ${file}?`))) {
      output.err('Nothing was written.\n');
      return 1;
    }
    const { createTarGzip } = await import('nanotar');
    const archive = await createTarGzip(
      files.map(({ name, text }) => ({ name: `interpreter-debug/${name}`, data: text })),
      { attrs: { mode: '600', uid: 0, gid: 0 } },
    );
    writeFileSync(file, archive, { mode: 0o600, flag: 'wx' });
    output.out(`Written: ${file}. Look it through before you send it: tar -xzf ${file}\n`);
    return 0;
  });
}

/** Asks on the terminal; where nobody can be asked the answer is no. */
export async function confirmOnTerminal(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    process.stderr.write(`${question} Nobody can be asked here: say --yes.\n`);
    return false;
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

function defaultName(): string {
  return `interpreter-debug-${new Date().toISOString().replace(/[-:]|\.\d+Z$/g, '')}.tar.gz`;
}

function listing(files: readonly BundleFile[]): string {
  const width = Math.max(...files.map(({ name }) => name.length));
  const line = ({ name, text, about }: BundleFile) =>
    `  ${name.padEnd(width)}  ${formatSize(Buffer.byteLength(text)).padStart(9)}  ${about}\n`;
  return `The archive will hold:\n${files.map(line).join('')}Keys and other secrets are taken out.\n`;
}
