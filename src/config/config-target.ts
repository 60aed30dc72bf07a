/** The file that a change goes into. */
import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hasCode, messageOf } from '../util/index.js';
import { ConfigError } from './errors.js';

export type Target = { readonly path: string; readonly text: string | null; readonly mode: number };

const BYTE_ORDER_MARK = '\uFEFF';

/** Links are followed: the file they point to is the one that is changed. */
export function targetOf(file: string): Target {
  try {
    const real = realpathSync(file);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(real));
    return { path: real, text, mode: statSync(real).mode & 0o7777 };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { path: file, text: null, mode: 0o600 };
    throw new ConfigError(`${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Its text as the parser takes it; "" for a file that is not there. */
export function textOf({ text }: Target): string {
  return text?.replace(new RegExp(`^${BYTE_ORDER_MARK}`), '') ?? '';
}

/** A reader sees the old file or the new one, never a part. `changed`: the new text, as `textOf` gives the old one. */
export function writeTarget(target: Target, changed: string): void {
  const text = (target.text?.startsWith(BYTE_ORDER_MARK) === true ? BYTE_ORDER_MARK : '') + changed;
  const temporary = `${target.path}.${process.pid}.tmp`;
  try {
    mkdirSync(path.dirname(target.path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, text, { mode: target.mode, flag: 'wx', flush: true });
    chmodSync(temporary, target.mode);
    renameSync(temporary, target.path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new ConfigError(`${target.path}: cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
