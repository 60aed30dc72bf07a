/**
 * Writes a file or replaces text in it. The way to the disk is that of a patch: the same verdict, the same question, the
 * same checks while writing, and the same events.
 */
import { isUtf8 } from 'node:buffer';
import { actOnPlan, carryOut, type PatchPlan, PatchRefusal, planFile, readGuard } from './apply-patch/index.js';
import { type Replacement, replaceText } from './replace-text.js';
import type { Plan, ToolAction, ToolContext, ToolFacts, ToolResult } from './tool.js';

export type FileChangeCall = {
  /** Absolute, or relative to the working directory. */
  readonly path: string;
  readonly change: /** The whole content of a file, new or not, byte for byte. */
    | { readonly type: 'write'; readonly content: string }
    /** Put behind what the file holds. */
    | { readonly type: 'append'; readonly content: string }
    /** An empty `old` stands for the content of a file that is new or empty. */
    | ({ readonly type: 'replace' } & Replacement);
  /** What `plan` found, and perhaps a person approved, is what `run` writes. */
  planned?: { readonly plan: PatchPlan; readonly done: string };
};

export const changeFile: ToolAction<FileChangeCall> = { parallel: false, plan, run };

async function plan(call: FileChangeCall, facts: ToolFacts): Promise<Plan> {
  let done = '';
  try {
    const made = await planFile(
      call.path,
      before => {
        const changed = changedContent(call, before);
        done = changed.done;
        return changed.bytes;
      },
      { cwd: facts.cwd, readGuard: readGuard(facts) },
    );
    call.planned = { plan: made, done };
    return actOnPlan(made, facts);
  } catch (error) {
    if (!(error instanceof PatchRefusal)) throw error;
    return { type: 'invalid', message: `Nothing was changed: ${error.message}` };
  }
}

function run({ planned }: FileChangeCall, context: ToolContext): Promise<ToolResult> {
  if (!planned) throw new Error('a file was to be changed without a plan');
  const { done, text } = carryOut(planned.plan, context);
  return Promise.resolve({ output: done ? planned.done : text.trimEnd(), is_error: !done });
}

/** `done`: what the model is told when it is written. Throws PatchRefusal. */
function changedContent({ path, change }: FileChangeCall, before: Buffer | null): { bytes: Buffer; done: string } {
  switch (change.type) {
    case 'write': {
      const what = before === null ? 'Made' : 'Replaced the content of';
      return { bytes: Buffer.from(change.content), done: `${what} ${path} (${lineCount(change.content)}).` };
    }
    case 'append': {
      const what = before === null ? 'Made' : 'Added to the end of';
      if (before && !isUtf8(before) && /[^\u0000-\u007f]/.test(change.content)) {
        throw new PatchRefusal(`${path} is not UTF-8, so only ASCII can be added to it`);
      }
      const bytes = Buffer.concat([before ?? Buffer.alloc(0), Buffer.from(change.content)]);
      return { bytes, done: `${what} ${path} (${lineCount(change.content)}).` };
    }
    case 'replace':
      return replaced(path, change, before);
  }
}

function replaced(path: string, change: Replacement, before: Buffer | null): { bytes: Buffer; done: string } {
  if (change.old === '') {
    if (before !== null && before.length > 0) {
      throw new PatchRefusal(`old_string is empty, which stands for a new file, but ${path} exists and is not empty`);
    }
    return { bytes: Buffer.from(change.new), done: `Made ${path} (${lineCount(change.new)}).` };
  }
  if (before === null) throw new PatchRefusal(`${path} does not exist`);
  if (change.old === change.new) throw new PatchRefusal('old_string and new_string are the same');
  const result = replaceText(before, change, path);
  if (!result.ok) throw new PatchRefusal(result.message);
  const [first] = result.places;
  const many = result.places.length > 1 ? `${result.places.length} times, first at` : 'at';
  return { bytes: result.bytes, done: `Changed ${path} ${many} line ${first}.` };
}

function lineCount(text: string): string {
  const count = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return count === 1 ? '1 line' : `${count} lines`;
}
