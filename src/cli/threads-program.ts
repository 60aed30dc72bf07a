/** The words of `interpreter threads`. */
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { homeDir, loadConfig } from '../config/index.js';
import type { ThreadsPlace } from './all-threads.js';
import { launchFolder } from './launch-folder.js';
import type { Output } from './output.js';
import { parseAge, parseSize } from './threads-to-delete.js';

export function addThreads(program: Command, output: Output): void {
  const threads = program.command('threads').description('look after the threads on disk');
  addList(threads, output);
  addShow(threads, output);
  addDelete(threads, output);
  addArchive(threads, output);
  addExport(threads, output);
  addUndo(threads, output);
}

function addList(threads: Command, output: Output): void {
  threads
    .command('list')
    .description('list threads, newest first')
    .option('--json', 'print JSON')
    .option('--cwd <dir>', 'only threads of this directory')
    .addOption(
      new Option('--archived <which>', 'include archived threads').choices(['no', 'only', 'both']).default('no'),
    )
    .option('--limit <n>', 'at most so many', wholeNumber)
    .action(async (options: { json?: boolean; cwd?: string; archived: 'no' | 'only' | 'both'; limit?: number }) => {
      const { listThreads } = await import('./threads-command.js');
      process.exitCode = await listThreads(
        place(),
        {
          json: options.json === true,
          archived: options.archived,
          ...(options.cwd === undefined ? {} : { cwd: path.resolve(options.cwd) }),
          ...(options.limit === undefined ? {} : { limit: options.limit }),
          ...(process.stdout.columns ? { columns: process.stdout.columns } : {}),
        },
        output,
      );
    });
}

function addShow(threads: Command, output: Output): void {
  threads
    .command('show')
    .description('print what is known about a thread and what was said in it')
    .argument('<id>', 'thread id, or its beginning')
    .option('--timing', 'print where the time of each turn went instead')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean; timing?: boolean }) => {
      if (options.timing === true) {
        const { showTiming } = await import('./threads-timing.js');
        const columns = process.stdout.columns ? { columns: process.stdout.columns } : {};
        process.exitCode = await showTiming(place(), id, { json: options.json === true, ...columns }, output);
        return;
      }
      const { showThread } = await import('./threads-command.js');
      process.exitCode = await showThread(place(), id, { json: options.json === true }, output);
    });
}

function addDelete(threads: Command, output: Output): void {
  threads
    .command('delete')
    .description('delete threads by id, by age, or down to a total size; running ones stay')
    .argument('[id...]', 'thread ids, or their beginnings')
    .option('--older-than <age>', 'not used for so long: 30d, 12h, 90m, 8w', parsed(parseAge, 'an age such as 30d'))
    .option(
      '--max-total-size <size>',
      'keep the newest within this size: 500MB, 2GB',
      parsed(parseSize, 'a size such as 2GB'),
    )
    .option('--dry-run', 'only say what would be deleted')
    .option('--json', 'print JSON')
    .action(
      async (
        ids: string[],
        options: { olderThan?: number; maxTotalSize?: number; dryRun?: boolean; json?: boolean },
      ) => {
        const { deleteThreads } = await import('./threads-command.js');
        process.exitCode = await deleteThreads(
          place(),
          {
            ids,
            dryRun: options.dryRun === true,
            json: options.json === true,
            ...(options.olderThan === undefined ? {} : { olderThanMs: options.olderThan }),
            ...(options.maxTotalSize === undefined ? {} : { maxTotalBytes: options.maxTotalSize }),
          },
          output,
        );
      },
    );
}

function addArchive(threads: Command, output: Output): void {
  threads
    .command('archive')
    .description('move threads out of the lists; they stay readable')
    .argument('<id...>', 'thread ids, or their beginnings')
    .option('--restore', 'move them back')
    .action(async (ids: string[], options: { restore?: boolean }) => {
      const { archiveThreads } = await import('./threads-command.js');
      process.exitCode = await archiveThreads(place(), { ids, restore: options.restore === true }, output);
    });
}

function addExport(threads: Command, output: Output): void {
  threads
    .command('export')
    .description('print a whole thread, or write it to a file')
    .argument('<id>', 'thread id, or its beginning')
    .addOption(
      new Option('--format <format>', 'Markdown to read, JSON, or the rollout as it is')
        .choices(['markdown', 'json', 'jsonl'])
        .default('markdown'),
    )
    .option('-o, --output <file>', 'write to this file')
    .action(async (id: string, options: { format: 'markdown' | 'json' | 'jsonl'; output?: string }) => {
      const { exportThread } = await import('./threads-command.js');
      const file = options.output === undefined ? {} : { file: options.output };
      process.exitCode = await exportThread(place(), { id, format: options.format, ...file }, output);
    });
}

function addUndo(threads: Command, output: Output): void {
  threads
    .command('undo')
    .description('put the files that a turn changed back to what they were before it (feature undo)')
    .argument('<id>', 'thread id, or its beginning')
    .option('--turn <n>', 'this turn, counted from 1, instead of the last that changed files', wholeNumber)
    .option('--redo', 'take the last undo back')
    .option('--dry-run', 'only say what would be done')
    .option('--force', 'also files that have changed since')
    .option('--json', 'print JSON')
    .action(
      async (
        id: string,
        options: { turn?: number; redo?: boolean; dryRun?: boolean; force?: boolean; json?: boolean },
      ) => {
        const { undoCommand } = await import('./undo-command.js');
        const flags = {
          redo: options.redo === true,
          dryRun: options.dryRun === true,
          force: options.force === true,
          json: options.json === true,
          ...(options.turn === undefined ? {} : { turn: options.turn }),
        };
        process.exitCode = await undoCommand({ home: homeDir(process.env), env: process.env }, id, flags, output);
      },
    );
}

function place(): ThreadsPlace {
  const config = loadConfig({ env: process.env, process_cwd: launchFolder() ?? '/', front_door: 'mcp-server' });
  return { home: homeDir(process.env), sqliteHome: config.sqlite_home };
}

function parsed(parse: (text: string) => number | null, what: string): (text: string) => number {
  return text => {
    const value = parse(text);
    if (value === null) throw new InvalidArgumentError(`Write ${what}.`);
    return value;
  };
}

const wholeNumber = parsed(text => (/^[1-9]\d*$/.test(text) ? Number(text) : null), 'a number such as 20');
