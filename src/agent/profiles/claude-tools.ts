/** Tools with the names and arguments of Claude's own coding agent, which other families have learned as well. */
import * as z from 'zod';
import {
  changeFile,
  escalationInput,
  type FileChangeCall,
  findFiles,
  pollCommand,
  type ReadFileCall,
  readFile,
  runShell,
  type SearchFilesCall,
  searchFiles,
  stopCommand,
  type Tool,
  translatedTool,
  updatePlanTool,
} from '../../tools/index.js';
import {
  EDIT_DESCRIPTION,
  EDIT_INPUT,
  escalationOf,
  FILE_PATH_ALIASES,
  replaced,
  SESSION_ALIASES,
  timeLimit,
} from './translations.js';

const MINUTE = 60_000;

export function bash(): Tool {
  return translatedTool({
    name: 'Bash',
    description:
      'Runs a command in a shell and returns its exit code and output. Every command starts in the working directory; nothing of an earlier shell is kept.',
    input: z.object({
      command: z.string().min(1).describe('The shell script to run.'),
      timeout: z
        .number()
        .optional()
        .describe('Milliseconds after which the command is ended (default 120000, at most 600000).'),
      description: z.string().optional().describe('What the command is for, in a few words.'),
      run_in_background: z
        .boolean()
        .optional()
        .describe('Let it go on without a time limit and return a session ID for TaskOutput and TaskStop.'),
      dangerouslyDisableSandbox: z
        .boolean()
        .optional()
        .describe('true means the same as sandbox_permissions "require_escalated".'),
      ...escalationInput,
    }),
    action: runShell,
    translate: args => ({
      script: args.command,
      timeout_ms: timeLimit(args.timeout, { usual: 2 * MINUTE, most: 10 * MINUTE }),
      background: args.run_in_background ?? false,
      ...escalationOf(args, args.description),
      ...(args.dangerouslyDisableSandbox ? { sandbox_permissions: 'require_escalated' as const } : {}),
    }),
  });
}

export function taskOutput(): Tool {
  return translatedTool({
    name: 'TaskOutput',
    description: 'Returns what a command in the background has printed since the last call, and whether it has ended.',
    input: z.object({
      task_id: z.number().describe('The session ID that Bash returned.'),
      block: z.boolean().optional().describe('Wait for the command to end. Default true.'),
      timeout: z.number().optional().describe('How long to wait, in milliseconds. Default 30000.'),
    }),
    aliases: SESSION_ALIASES,
    action: pollCommand,
    translate: ({ task_id, block, timeout }) => ({
      session_id: task_id,
      wait_ms: block === false ? 0 : timeLimit(timeout, { usual: MINUTE / 2, most: 10 * MINUTE }),
    }),
  });
}

/** `shell`: the name of the tool that starts commands. */
export function taskStop(name = 'TaskStop', shell = 'Bash'): Tool {
  return translatedTool({
    name,
    description: 'Ends a command in the background and everything it started.',
    input: z.object({ task_id: z.number().describe(`The session ID that ${shell} returned.`) }),
    aliases: SESSION_ALIASES,
    action: stopCommand,
    translate: ({ task_id }) => ({ session_id: task_id }),
  });
}

export function read(images: boolean): Tool {
  return translatedTool({
    name: 'Read',
    description: `Reads a text file${images ? ' or a picture' : ''}. Lines are returned with their numbers in front, which are not part of the file. Up to 2000 lines at once; long files are read in parts.`,
    input: z.object({
      file_path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      offset: z.number().optional().describe('The first line to read, from 1.'),
      limit: z.number().optional().describe('How many lines to read.'),
    }),
    aliases: { ...FILE_PATH_ALIASES.file_path, line_offset: 'offset', n_lines: 'limit' },
    action: readFile,
    translate: ({ file_path, offset, limit }): ReadFileCall => ({
      path: file_path,
      offset,
      limit,
      images,
      position: { name: 'offset', base: 1 },
    }),
  });
}

/** `editor`: the name of the tool that changes parts of files. */
export function write(name = 'Write', editor = 'Edit'): Tool {
  return translatedTool({
    name,
    description: `Writes a whole file: a new one, or one whose content is replaced. Folders that are missing are made. To change a part of a file use ${editor}.`,
    input: z.object({
      file_path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      content: z.string().describe('All of the content.'),
    }),
    aliases: FILE_PATH_ALIASES.file_path,
    action: changeFile,
    translate: ({ file_path, content }): FileChangeCall => ({ path: file_path, change: { type: 'write', content } }),
  });
}

export function edit(name = 'Edit'): Tool {
  return translatedTool({
    name,
    description: EDIT_DESCRIPTION,
    input: z.object({
      file_path: z.string().min(1).describe('Absolute, or relative to the working directory.'),
      ...EDIT_INPUT,
    }),
    aliases: FILE_PATH_ALIASES.file_path,
    action: changeFile,
    translate: args => replaced(args.file_path, args),
  });
}

export function glob(name = 'Glob'): Tool {
  return translatedTool({
    name,
    description:
      'Finds files by a pattern such as "src/**/*.ts", those changed last first. A pattern without a slash is a file name at any depth. Files that .gitignore names are left out.',
    input: z.object({
      pattern: z.string().min(1),
      path: z.string().optional().describe('The folder to look in; default is the working directory.'),
    }),
    aliases: { dir_path: 'path' },
    action: findFiles,
    translate: ({ pattern, path }) => ({ pattern, path }),
  });
}

export const grepInput = {
  pattern: z.string().min(1).describe('A regular expression, in the syntax of ripgrep.'),
  path: z.string().optional().describe('The file or folder to search; default is the working directory.'),
  glob: z.string().optional().describe('Only files that match this glob, e.g. "*.{ts,tsx}".'),
  type: z.string().optional().describe('Only files of this type, e.g. ts, py, rust.'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe('Matching lines, names of files (default), or matches per file.'),
  '-i': z.boolean().optional().describe('Ignore case.'),
  '-n': z.boolean().optional().describe('Line numbers with content. Default true.'),
  '-A': z.number().optional().describe('Lines to show after a match.'),
  '-B': z.number().optional().describe('Lines to show before a match.'),
  '-C': z.number().optional().describe('Lines to show before and after a match.'),
  head_limit: z.number().optional().describe('The most lines or files to return. Default 250; 0 = all.'),
  offset: z.number().optional().describe('Lines or files to leave out at the start.'),
  multiline: z.boolean().optional().describe('Let the expression match across lines.'),
};

const SHOW = { content: 'lines', files_with_matches: 'files', count: 'counts' } as const;

type GrepArguments = z.output<z.ZodObject<typeof grepInput>>;

export function searchOf(args: GrepArguments): SearchFilesCall {
  return {
    pattern: args.pattern,
    path: args.path,
    glob: args.glob,
    type: args.type,
    show: SHOW[args.output_mode ?? 'files_with_matches'],
    ignore_case: args['-i'],
    line_numbers: args['-n'],
    before: args['-B'] ?? args['-C'],
    after: args['-A'] ?? args['-C'],
    multiline: args.multiline,
    offset: args.offset,
    limit: args.head_limit,
  };
}

export const GREP_ALIASES = { context: '-C', include: 'glob', limit: 'head_limit' } as const;

export function grep(): Tool {
  return translatedTool({
    name: 'Grep',
    description: 'Searches files for a regular expression. Files that .gitignore names are left out.',
    input: z.object(grepInput),
    aliases: GREP_ALIASES,
    action: searchFiles,
    translate: searchOf,
  });
}

export function todoWrite(name = 'TodoWrite'): Tool {
  return translatedTool({
    name,
    description:
      'Records the steps of the work and their state, for the person who watches. Give the whole list each time; one step is in_progress at a time.',
    input: z.object({
      todos: z.array(
        z.object({
          content: z.string().describe('The step.'),
          status: z.enum(['pending', 'in_progress', 'completed']),
        }),
      ),
    }),
    action: updatePlanTool,
    translate: ({ todos }) => ({ plan: todos.map(({ content, status }) => ({ step: content, status })) }),
  });
}
