/** The plan for one file that gets new content, for tools that name a file and not a patch. Reads, never writes. */
import { type PatchPlan, type PlanOptions, statOf, toPlan } from './plan-patch.js';
import { absolutePath, PlannedFiles } from './planned-files.js';

/** `before` is null for a file that does not exist. Throws PatchRefusal when the change does not fit. */
export type ContentChange = (before: Buffer | null) => Buffer;

/** Throws PatchRefusal with what is wrong; mode and owner of a file that exists stay. */
export async function planFile(written: string, change: ContentChange, options: PlanOptions): Promise<PatchPlan> {
  const files = new PlannedFiles(options.readGuard ?? (() => null));
  const file = await files.at(absolutePath(options.cwd, written));
  const before = await files.content(file);
  file.after = { type: 'file', bytes: change(before), like: statOf(file) };
  return toPlan(files, options.cwd, [`${before === null ? 'A' : 'M'} ${written}`]);
}
