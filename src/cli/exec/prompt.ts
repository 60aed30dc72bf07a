/** The prompt: an argument, standard input, or both. */
import type { Readable } from 'node:stream';
import { ExitError } from '../exit-error.js';

export type PromptSource = {
  /** The argument; `-` = standard input. */
  readonly argument: string | undefined;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** False where standard input is not added to a prompt that was given as an argument. */
  readonly append: boolean;
  /** Said where there is no prompt at all. */
  readonly hint: string;
  /** Says that standard input is being read; with a line end. */
  readonly notice: (text: string) => void;
};

/** How long an idle pipe is waited for when the prompt is already there: wrappers often leave one open. */
const FIRST_BYTE_MS = 1000;

/** Resolves to the text of the prompt. Throws ExitError when there is none or it is no text. */
export async function readPrompt(source: PromptSource): Promise<string> {
  const { argument, stdin, append, hint, notice } = source;
  if (argument !== undefined && argument !== '-') {
    if (!append || stdin.isTTY) return argument;
    const added = await readStdin(stdin, FIRST_BYTE_MS, () => notice('Reading additional input from stdin...\n'));
    return added.trim() === '' ? argument : `${argument}\n\n<stdin>\n${added.replace(/\n$/, '')}\n</stdin>`;
  }
  if (argument === undefined) {
    if (stdin.isTTY) throw new ExitError(1, hint);
    notice('Reading prompt from stdin...\n');
  }
  const text = await readStdin(stdin, null, () => {});
  if (text.trim() === '') throw new ExitError(1, 'No prompt provided via stdin.');
  return text;
}

/** Everything up to the end of file; "" when `firstByteMs` pass before the first byte. */
async function readStdin(stdin: Readable, firstByteMs: number | null, onFirstByte: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  const idle = await new Promise<boolean>((resolve, reject) => {
    const timer = firstByteMs === null ? undefined : setTimeout(() => resolve(true), firstByteMs);
    stdin.on('data', (chunk: Buffer) => {
      if (chunks.length === 0) onFirstByte();
      clearTimeout(timer);
      chunks.push(chunk);
    });
    stdin.once('end', () => {
      clearTimeout(timer);
      resolve(false);
    });
    stdin.once('error', error => {
      clearTimeout(timer);
      reject(new ExitError(1, `Failed to read from stdin: ${error.message}`));
    });
  });
  // Nothing reads it any more, and an open pipe must not keep the process alive.
  if (idle) stdin.destroy();
  return decode(Buffer.concat(chunks));
}

/** UTF-8, or UTF-16 where a byte order mark says so. Throws ExitError for anything else. */
function decode(bytes: Buffer): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ExitError(1, 'What stdin holds is neither UTF-8 nor UTF-16 with a byte order mark.');
  }
}
