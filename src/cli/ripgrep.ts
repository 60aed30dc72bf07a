/** Models expect `rg`; the package brings one for machines that have none. */
import { createRequire } from 'node:module';
import path from 'node:path';

/** The folder of the bundled ripgrep, for the end of PATH; empty where the package has none for this platform. */
export function ripgrepFolder(): string[] {
  const require = createRequire(import.meta.url);
  try {
    const wrapper = require.resolve('@vscode/ripgrep');
    const binary = createRequire(wrapper).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
    return [path.dirname(binary)];
  } catch {
    // An optional package: without it commands use the rg of the machine, if it has one.
    return [];
  }
}
