/** The tools that Qwen knows from its own coding agent. Lines are counted from 0. */
import * as z from 'zod';
import { familyOf } from '../../providers/index.js';
import {
  escalationInput,
  pollCommand,
  type ReadFileCall,
  readFile,
  runShell,
  type SearchFilesCall,
  searchFiles,
  type Tool,
  translatedTool,
} from '../../tools/index.js';
import { baseInstructions, LIMITS_POINT, PARALLEL_POINT } from '../base-instructions.js';
import { edit, glob, taskStop, todoWrite, write } from './claude-tools.js';
import type { Profile } from './profile.js';
import { escalationOf, FILE_PATH_ALIASES, SESSION_ALIASES, timeLimit } from './translations.js';

const MINUTE = 60_000;

export const qwen: Profile = {
  name: 'qwen',
  aliases: ['qwen-code'],
  isDefaultFor: modelId => familyOf(modelId) === 'qwen',
  instructions: baseInstructions({
    searching: '`glob` and `grep_search`',
    tools: `- Read a file with \`read_file\` before you change it, and change parts of it with \`edit\`. \`write_file\` is for new files and for content that is replaced as a whole. Use commands for generated code and mass edits.
- Give \`run_shell_command\` the folder as \`directory\` instead of \`cd\`. Avoid commands that wait for input. Start servers and watchers with is_background, look after them with \`task_output\`, and end them with \`task_stop\` when you are done.
${PARALLEL_POINT}
- For work of several steps keep the list of \`todo_write\` up to date; skip it for small tasks.
${LIMITS_POINT}`,
  }),
  tools: ({ images }) => [
    runShellCommand(),
    taskOutput(),
    taskStop('task_stop', 'run_shell_command'),
    readFileTool(images),
    write('write_file', 'edit'),
    edit('edit'),
    glob('glob'),
    grepSearch(),
    todoWrite('todo_write'),
  ],
};

function runShellCommand(): Tool {
  return translatedTool({
    name: 'run_shell_command',
    description: 'Runs a command in a shell and returns its exit code and output. Nothing of an earlier shell is kept.',
    input: z.object({
      command: z.string().min(1).describe('The shell script to run.'),
      description: z.string().optional().describe('What the command is for, in a few words.'),
      directory: z.string().optional().describe('Directory to run in; default is the working directory.'),
      is_background: z
        .boolean()
        .optional()
        .describe('Let it go on without a time limit and return a session ID for task_output and task_stop.'),
      timeout: z
        .number()
        .optional()
        .describe('Milliseconds after which the command is ended (default 120000, at most 600000).'),
      ...escalationInput,
    }),
    aliases: { cwd: 'directory', workdir: 'directory', run_in_background: 'is_background' },
    action: runShell,
    translate: args => ({
      script: args.command,
      workdir: args.directory,
      timeout_ms: timeLimit(args.timeout, { usual: 2 * MINUTE, most: 10 * MINUTE }),
      background: args.is_background ?? false,
      ...escalationOf(args, args.description),
    }),
  });
}

function taskOutput(): Tool {
  return translatedTool({
    name: 'task_output',
    description: 'Returns what a command in the background has printed since the last call, and whether it has ended.',
    input: z.object({
      task_id: z.number().describe('The session ID that run_shell_command returned.'),
      timeout: z.number().optional().describe('How long to wait for its end, in milliseconds. Default 0.'),
    }),
    aliases: SESSION_ALIASES,
    action: pollCommand,
    translate: ({ task_id, timeout }) => ({
      session_id: task_id,
      wait_ms: timeLimit(timeout, { usual: 0, most: 10 * MINUTE }),
    }),
  });
}

function readFileTool(images: boolean): Tool {
  return translatedTool({
    name: 'read_file',
    description: `Reads a text file${images ? ' or a picture' : ''}. Lines are returned with their numbers in front, which are not part of the file. Up to 2000 lines at once; long files are read in parts.`,
    input: z.object({
      file_path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      offset: z.number().optional().describe('How many lines to leave out at the start: 0 begins with the first line.'),
      limit: z.number().optional().describe('How many lines to read.'),
    }),
    aliases: FILE_PATH_ALIASES.file_path,
    action: readFile,
    translate: ({ file_path, offset, limit }): ReadFileCall => ({
      path: file_path,
      offset: offset === undefined ? undefined : offset + 1,
      limit,
      images,
      position: { name: 'offset', base: 0 },
    }),
  });
}

function grepSearch(): Tool {
  return translatedTool({
    name: 'grep_search',
    description:
      'Searches files for a regular expression and returns the matching lines with their numbers; case does not count. Files that .gitignore names are left out.',
    input: z.object({
      pattern: z.string().min(1).describe('A regular expression, in the syntax of ripgrep.'),
      path: z.string().optional().describe('The file or folder to search; default is the working directory.'),
      glob: z.string().optional().describe('Only files that match this glob, e.g. "*.{ts,tsx}".'),
      limit: z.number().optional().describe('The most lines to return. Default 250.'),
    }),
    aliases: { include: 'glob', dir_path: 'path' },
    action: searchFiles,
    translate: ({ pattern, path, glob: only, limit }): SearchFilesCall => ({
      pattern,
      path,
      glob: only,
      show: 'lines',
      ignore_case: true,
      limit,
    }),
  });
}
