/** Homes of the built program with a model of a bench. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchModel } from './model.js';

export const program = join(import.meta.dirname, '../dist/interpreter.js');

/** `root` is the home of the person; `home` that of the agent. */
export type Place = { readonly root: string; readonly home: string; readonly cwd: string; remove(): Promise<void> };

/** `tables`: behind the rest of config.toml. Outside of the temporary folders, where a codex takes no home. */
export async function makePlace(model: BenchModel, tables = ''): Promise<Place> {
  const root = await mkdtemp('/var/tmp/interpreter-bench-');
  const [home, cwd] = [join(root, 'home'), join(root, 'work')];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  const config = `model = "gpt-5.4"
model_provider = "bench"
sandbox_mode = "danger-full-access"
[model_providers.bench]
name = "bench"
base_url = "${model.url}"
wire_api = "responses"
${tables}`;
  await writeFile(join(home, 'config.toml'), config);
  return { root, home, cwd, remove: () => rm(root, { recursive: true, force: true }) };
}

/** The environment of a program that is measured. */
export function environment({ root, home }: Place): NodeJS.ProcessEnv {
  // Node reads extra certificates at its start, which takes longer than all else.
  return { PATH: process.env['PATH'], HOME: root, INTERPRETER_HOME: home, CODEX_HOME: home };
}
