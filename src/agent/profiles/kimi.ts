/** The tools that Kimi knows from its own coding agent. Times are in seconds. */
import * as z from 'zod';
import { familyOf } from '../../providers/index.js';
import {
  changeFile,
  escalationInput,
  type FileChangeCall,
  findFiles,
  pollCommand,
  type ReadFileCall,
  readFile,
  runShell,
  searchFiles,
  type Tool,
  translatedTool,
  updatePlanTool,
  viewImageTool,
} from '../../tools/index.js';
import { baseInstructions, LIMITS_POINT, PARALLEL_POINT } from '../base-instructions.js';
import { GREP_ALIASES, grepInput, searchOf, taskStop } from './claude-tools.js';
import type { Profile } from './profile.js';
import {
  EDIT_DESCRIPTION,
  EDIT_INPUT,
  escalationOf,
  FILE_PATH_ALIASES,
  replaced,
  SESSION_ALIASES,
  timeLimit,
} from './translations.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const kimi: Profile = {
  name: 'kimi',
  aliases: ['kimi-code', 'kimi-cli'],
  isDefaultFor: modelId => familyOf(modelId) === 'kimi',
  instructions: baseInstructions({
    searching: 'Glob and Grep',
    tools: `- Read a file before you change it, and change parts of it with Edit. Write is for new files and for content that is replaced as a whole. Use Bash for generated code and mass edits.
- Give Bash the directory as \`cwd\` instead of \`cd\`. Avoid commands that wait for input. Start servers and watchers with run_in_background, look after them with TaskOutput, and end them with TaskStop when you are done.
${PARALLEL_POINT}
- For work of several steps keep the list of TodoList up to date; skip it for small tasks.
${LIMITS_POINT}`,
  }),
  tools: ({ images }) => [
    bash(),
    taskOutput(),
    taskStop(),
    read(images),
    ...(images ? [readMediaFile()] : []),
    write(),
    edit(),
    glob(),
    grep(),
    todoList(),
  ],
};

const seconds = (value: number | undefined) => (value === undefined ? undefined : value * SECOND);

function bash(): Tool {
  return translatedTool({
    name: 'Bash',
    description: 'Runs a command in a shell and returns its exit code and output. Nothing of an earlier shell is kept.',
    input: z.object({
      command: z.string().min(1).describe('The shell script to run.'),
      cwd: z.string().optional().describe('Directory to run in; default is the working directory.'),
      timeout: z.number().optional().describe('Seconds after which the command is ended (default 60, at most 300).'),
      description: z.string().optional().describe('What the command is for, in a few words.'),
      run_in_background: z
        .boolean()
        .optional()
        .describe('Let it go on without a time limit and return a session ID for TaskOutput and TaskStop.'),
      disable_timeout: z.boolean().optional().describe('Wait for the end of the command, for an hour at most.'),
      ...escalationInput,
    }),
    aliases: { workdir: 'cwd', directory: 'cwd' },
    action: runShell,
    translate: args => ({
      script: args.command,
      workdir: args.cwd,
      timeout_ms: args.disable_timeout ? HOUR : timeLimit(seconds(args.timeout), { usual: MINUTE, most: 5 * MINUTE }),
      background: args.run_in_background ?? false,
      ...escalationOf(args, args.description),
    }),
  });
}

function taskOutput(): Tool {
  return translatedTool({
    name: 'TaskOutput',
    description: 'Returns what a command in the background has printed since the last call, and whether it has ended.',
    input: z.object({
      task_id: z.number().describe('The session ID that Bash returned.'),
      block: z.boolean().optional().describe('Wait for the command to end. Default false.'),
      timeout: z.number().optional().describe('How long to wait, in seconds. Default 30.'),
    }),
    aliases: SESSION_ALIASES,
    action: pollCommand,
    translate: ({ task_id, block, timeout }) => ({
      session_id: task_id,
      wait_ms: block ? timeLimit(seconds(timeout), { usual: 30 * SECOND, most: HOUR }) : 0,
    }),
  });
}

function read(images: boolean): Tool {
  return translatedTool({
    name: 'Read',
    description:
      'Reads a text file. Lines are returned with their numbers in front, which are not part of the file. Up to 2000 lines at once; long files are read in parts.',
    input: z.object({
      path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      line_offset: z
        .number()
        .optional()
        .describe('The first line to read, from 1; a negative number counts from the end of the file.'),
      n_lines: z.number().optional().describe('How many lines to read.'),
    }),
    aliases: { ...FILE_PATH_ALIASES.path, offset: 'line_offset', limit: 'n_lines' },
    action: readFile,
    translate: ({ path, line_offset, n_lines }): ReadFileCall => ({
      path,
      offset: line_offset,
      limit: n_lines,
      images,
      position: { name: 'line_offset', base: 1 },
    }),
  });
}

function readMediaFile(): Tool {
  return translatedTool({
    name: 'ReadMediaFile',
    description: 'Loads a PNG, JPEG, GIF or WebP file so that you can see it.',
    input: z.object({ path: z.string().min(1).describe('Absolute, or relative to the working directory.') }),
    aliases: FILE_PATH_ALIASES.path,
    action: viewImageTool,
    translate: ({ path }) => ({ path }),
  });
}

function write(): Tool {
  return translatedTool({
    name: 'Write',
    description:
      'Writes a file: all of its content, or more content behind what it holds. Folders that are missing are made. To change a part of a file use Edit.',
    input: z.object({
      path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      content: z.string(),
      mode: z.enum(['overwrite', 'append']).optional().describe('Default overwrite.'),
    }),
    aliases: FILE_PATH_ALIASES.path,
    action: changeFile,
    translate: ({ path, content, mode }): FileChangeCall => ({
      path,
      change: { type: mode === 'append' ? 'append' : 'write', content },
    }),
  });
}

function edit(): Tool {
  return translatedTool({
    name: 'Edit',
    description: EDIT_DESCRIPTION,
    input: z.object({
      path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      ...EDIT_INPUT,
    }),
    aliases: FILE_PATH_ALIASES.path,
    action: changeFile,
    translate: args => replaced(args.path, args),
  });
}

function glob(): Tool {
  return translatedTool({
    name: 'Glob',
    description:
      'Finds files by a pattern such as "src/**/*.ts", those changed last first. A pattern without a slash is a name at any depth.',
    input: z.object({
      pattern: z.string().min(1),
      path: z.string().optional().describe('The folder to look in; default is the working directory.'),
      include_ignored: z.boolean().optional().describe('Also files that .gitignore names. Default false.'),
      include_dirs: z.boolean().optional().describe('Also folders that hold files. Default true.'),
    }),
    aliases: { directory: 'path' },
    action: findFiles,
    translate: args => ({
      pattern: args.pattern,
      path: args.path,
      include_ignored: args.include_ignored,
      include_folders: args.include_dirs ?? true,
    }),
  });
}

function grep(): Tool {
  return translatedTool({
    name: 'Grep',
    description: 'Searches files for a regular expression.',
    input: z.object({
      ...grepInput,
      include_ignored: z.boolean().optional().describe('Also files that .gitignore names. Default false.'),
    }),
    aliases: GREP_ALIASES,
    action: searchFiles,
    translate: args => ({ ...searchOf(args), include_ignored: args.include_ignored }),
  });
}

const STATUS = { pending: 'pending', in_progress: 'in_progress', done: 'completed', completed: 'completed' } as const;

function todoList(): Tool {
  return translatedTool({
    name: 'TodoList',
    description:
      'Records the steps of the work and their state, for the person who watches. Give the whole list each time; one step is in_progress at a time.',
    input: z.object({
      todos: z.array(
        z.object({
          title: z.string().describe('The step.'),
          status: z.enum(['pending', 'in_progress', 'done', 'completed']),
        }),
      ),
    }),
    action: updatePlanTool,
    translate: ({ todos }) => ({ plan: todos.map(({ title, status }) => ({ step: title, status: STATUS[status] })) }),
  });
}
