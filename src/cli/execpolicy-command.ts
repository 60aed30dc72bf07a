/** `interpreter execpolicy check`: what rules files say about a command. */
import { checkCommand, loadRulesFiles } from '../approvals/index.js';
import type { Output } from './output.js';

export type ExecpolicyCheck = {
  /** Paths of rules files; at least one. */
  readonly rules: readonly string[];
  readonly pretty: boolean;
  /** The words of the command; at least one. */
  readonly command: readonly string[];
};

/**
 * Prints `{"matchedRules":[...],"decision":...}` as one line of JSON, or indented. Nothing is run. Returns the exit
 * status: 0, 1 when a file can't be used (`path:line:col: what is wrong` on stderr), 2 when an argument is missing.
 */
export async function checkExecpolicy(check: ExecpolicyCheck, output: Output): Promise<number> {
  if (check.rules.length === 0 || check.command.length === 0) {
    output.err('Usage: interpreter execpolicy check --rules FILE [--rules FILE ...] [--pretty] COMMAND...\n');
    return 2;
  }
  const { rules, problems } = await loadRulesFiles(check.rules);
  if (problems.length > 0) {
    output.err(problems.map(problem => `${problem}\n`).join(''));
    return 1;
  }
  output.out(`${JSON.stringify(checkCommand(rules, check.command), null, check.pretty ? 2 : 0)}\n`);
  return 0;
}
