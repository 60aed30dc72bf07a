import { ExitError } from './exit-error.js';

/** The folder the program was started in; null when it has been deleted since. */
export function launchFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    // There is no path to it any more.
    return null;
  }
}

/** The same for commands that work in it. Throws ExitError where it is gone. */
export function currentFolder(): string {
  const folder = launchFolder();
  if (folder === null) throw new ExitError(1, 'Error: the current directory has been deleted. Change to another one.');
  return folder;
}
