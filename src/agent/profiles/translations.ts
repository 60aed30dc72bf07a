/** What the translations of several profiles have in common. */
import type { FileChangeCall, RunShellCall } from '../../tools/index.js';

/** Spellings of a path, for tools that call it `path` or `file_path`. */
export const FILE_PATH_ALIASES = {
  path: { file_path: 'path', filePath: 'path', absolute_path: 'path', filename: 'path' },
  file_path: { path: 'file_path', filePath: 'file_path', absolute_path: 'file_path', filename: 'file_path' },
} as const;

/** Spellings of what a command in the background is named by. */
export const SESSION_ALIASES = { bash_id: 'task_id', shell_id: 'task_id', session_id: 'task_id' } as const;

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
