/**
 * Checks the table of rooms: who imports whom, through index.ts only, without cycles, and what only some rooms may
 * use. Prints each breach with its place and the way out; exit status 1 when there is one.
 */
import { checkImports } from './imports/check-imports.js';
import { root } from './root.js';

const { files, breaches } = checkImports(root);
for (const { file, line, message } of breaches) console.error(`${file}:${line}  ${message}`);
console.log(`${files} files, ${breaches.length} breaches of the table of rooms`);
process.exitCode = breaches.length === 0 ? 0 : 1;
