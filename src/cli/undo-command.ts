/** `interpreter threads undo`: puts files back to what they were before a turn. */
import path from 'node:path';
import { ThreadUnavailableError, type UndoneFile, type UndoReport, undoThread } from '../agent/index.js';
import { createSandbox } from '../sandbox/index.js';
import type { Env } from '../util/index.js';
import type { Output } from './output.js';
import { FAILED, refusing } from './refusing.js';
import { resolveThread } from './resolve-thread.js';

export type UndoFlags = {
  /** Number of the turn, from 1; absent = the last that changed files. */
  readonly turn?: number;
  readonly redo: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly json: boolean;
};

export type UndoPlace = {
  /** INTERPRETER_HOME. */
  readonly home: string;
  readonly env: Env;
};

/** `id`: a thread id or its beginning. Returns the exit status: 1 when nothing, or not everything, was put back. */
export async function undoCommand(place: UndoPlace, id: string, flags: UndoFlags, output: Output): Promise<number> {
  const warn = (message: string) => output.err(`warning: ${message}\n`);
  const runner = createSandbox({ ...place, stateDir: path.join(place.home, 'state'), warn });
  try {
    return await refusing(output, async () => {
      const { thread_id: threadId } = await resolveThread(place.home, id);
      const { json, ...rest } = flags;
      const report = await undoThread({ ...place, ...rest, threadId, runner, warn });
      if (json) output.out(`${JSON.stringify(report, null, 2)}\n`);
      else print(report, { threadId, redo: flags.redo, output });
      return report.type === 'done' && report.files.every(file => file.done !== 'left_alone') ? 0 : FAILED;
    });
  } catch (error) {
    if (!(error instanceof ThreadUnavailableError)) throw error;
    output.err(`${error.message}\n`);
    return FAILED;
  } finally {
    await runner.close();
  }
}

type Printing = { readonly threadId: string; readonly redo: boolean; readonly output: Output };

function print(report: UndoReport, { threadId, redo, output }: Printing): void {
  if (report.type === 'refused') {
    output.err(`${report.message}\n`);
    for (const file of report.conflicts) output.err(`  ${file}\n`);
    return;
  }
  const { turn, root, files, dry_run: dryRun } = report;
  output.out(`Turn ${turn} in ${root}:\n`);
  for (const file of files) output.out(`  ${fileText(file, dryRun)}\n`);
  if (dryRun) output.out('Nothing was changed.\n');
  else if (!redo) output.out(`To take this back: interpreter threads undo ${threadId} --redo\n`);
}

function fileText({ path: name, done, reason }: UndoneFile, dryRun: boolean): string {
  const would = dryRun ? 'would be ' : '';
  switch (done) {
    case 'restored':
      return `${would}restored  ${name}`;
    case 'created':
      return `${would}created   ${name}`;
    case 'deleted':
      return `${would}deleted   ${name}`;
    case 'left_alone':
      return `${dryRun ? 'would stay' : 'stays'}     ${name}: ${reason ?? 'unknown reason'}`;
  }
}
