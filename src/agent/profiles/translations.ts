/** What the translations of several profiles have in common. */
import * as z from 'zod';
import type { FileChangeCall, RunShellCall } from '../../tools/index.js';

/** Spellings of a path, for tools that call it `path` or `file_path`. */
export const FILE_PATH_ALIASES = {
  path: { file_path: 'path', filePath: 'path', absolute_path: 'path', filename: 'path' },
  file_path: { path: 'file_path', filePath: 'file_path', absolute_path: 'file_path', filename: 'file_path' },
} as const;

/** Spellings of what a command in the background is named by. */
export const SESSION_ALIASES = { bash_id: 'task_id', shell_id: 'task_id', session_id: 'task_id' } as const;

/** What a tool that replaces a text in a file takes, besides the path. */
export const EDIT_INPUT = {
  old_string: z.string().describe('The text to replace; empty for a new file.'),
  new_string: z.string().describe('The text to put there.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence. Default false.'),
};

export const EDIT_DESCRIPTION =
  'Replaces a text in a file. old_string must be in the file exactly once: give as many lines around the change as that takes, with their exact indentation and without line numbers.';

type Edit = { old_string: string; new_string: string; replace_all?: boolean | undefined };

export function replaced(path: string, edit: Edit): FileChangeCall {
  return {
    path,
    change: { type: 'replace', old: edit.old_string, new: edit.new_string, all: edit.replace_all ?? false },
  };
}

/** The arguments by which a command asks to leave the sandbox, the same in every profile. */
type Escalation = Pick<RunShellCall, 'sandbox_permissions' | 'justification' | 'prefix_rule'>;

/** `description`: what the model says the command is for; better than no reason. */
export function escalationOf(args: Escalation, description: string | undefined): Escalation {
  return {
    sandbox_permissions: args.sandbox_permissions,
    justification: args.justification ?? description,
    prefix_rule: args.prefix_rule,
  };
}

/** Milliseconds. What a model writes beyond the limits of its tool is brought to the nearest one. */
export function timeLimit(ms: number | undefined, limits: { usual: number; most: number }): number {
  return ms === undefined || !(ms > 0) ? limits.usual : Math.min(ms, limits.most);
}
