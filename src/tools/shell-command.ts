/** Runs a shell command to its end, with a time limit; offered when the feature `unified_exec` is off. */
import * as z from 'zod';
import { defineFunctionTool } from './define-tool.js';
import { escalationInput, isPatch } from './exec-command.js';
import { runShell } from './run-shell.js';

const input = z.object({
  command: z.string().min(1).describe('The shell script to run.'),
  workdir: z.string().optional().describe('Directory to run in; default is the working directory of the thread.'),
  login: z.boolean().optional().describe('Run as a login shell (-l). Default true.'),
  timeout_ms: z.number().optional().describe('The command is ended after this time. Default 10000.'),
  ...escalationInput,
});

export const shellCommandTool = defineFunctionTool({
  name: 'shell_command',
  description: 'Runs a command in a shell, waits for its end and returns its exit code and output.',
  input,
  parallel: true,
  runsAlone: call => isPatch(call.command),
  plan: (call, facts) => runShell.plan({ ...call, script: call.command }, facts),
  run: (call, context) => runShell.run({ ...call, script: call.command }, context),
});
