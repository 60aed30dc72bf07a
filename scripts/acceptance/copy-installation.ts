import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../root.js';

/**
 * Copies the build and the packages it needs to a folder that every user can read, as an installation would be.
 * Returns the folder; it holds `dist/interpreter.js`.
 */
export function copyInstallation(): string {
  // Not below /tmp: that is a writable root inside the sandbox.
  const target = mkdtempSync('/var/tmp/interpreter-installation-');
  const list = spawnSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root, encoding: 'utf8' });
  const packages = list.stdout.split('\n').filter(path => path.startsWith(join(root, 'node_modules')));
  for (const path of [join(root, 'package.json'), join(root, 'dist'), ...packages]) {
    cpSync(path, join(target, relative(root, path)), { recursive: true });
  }
  spawnSync('chmod', ['-R', 'a+rX', target], { stdio: 'inherit' });
  return target;
}
