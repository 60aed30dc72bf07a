/**
 * commander loads Node's process and network modules for sub-commands that are programs of their own, which this
 * program has none of. With this plugin they are loaded when such a sub-command is run.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const EAGER = "const childProcess = require('node:child_process');";
const LAZY = "const childProcess = { spawn: (...args) => require('node:child_process').spawn(...args) };";

export const lazyCommanderProcesses: Plugin = {
  name: 'lazy-commander-processes',
  setup(build) {
    build.onLoad({ filter: /commander[\\/]lib[\\/]command\.js$/ }, async args => {
      const source = await readFile(args.path, 'utf8');
      const uses = source.match(/\bchildProcess\.\w+/g) ?? [];
      if (!source.includes(EAGER) || uses.some(use => use !== 'childProcess.spawn')) {
        throw new Error(
          `${args.path} starts processes in a new way: update scripts/build/lazy-commander-processes.ts.`,
        );
      }
      return { contents: source.replace(EAGER, LAZY) };
    });
  },
};
