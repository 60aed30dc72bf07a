/** The command line of one turn. */
import type { InterpreterOptions, ThreadOptions } from './options.js';
import { configArguments, literal } from './toml.js';

export type ExecCall = {
  readonly options: InterpreterOptions;
  readonly thread: ThreadOptions;
  readonly threadId: string | null;
  readonly schemaFile: string | null;
  readonly images: readonly string[];
  /** The descriptor that approvals go over, in the program. */
  readonly approvalsFd: number | null;
};

/** In the order of the Codex SDK. */
export function execArguments({ options, thread, threadId, schemaFile, images, approvalsFd }: ExecCall): string[] {
  const argv = ['exec', '--experimental-json'];
  const config = (pair: string) => argv.push('--config', pair);
  const option = (name: string, value: string | undefined | null) => {
    if (value !== undefined && value !== null) argv.push(name, value);
  };
  for (const pair of configArguments(options.config ?? {})) config(pair);
  if (options.baseUrl !== undefined) config(`openai_base_url=${literal(options.baseUrl, 'baseUrl')}`);
  option('--model', thread.model);
  option('--sandbox', thread.sandboxMode);
  option('--cd', thread.workingDirectory);
  for (const folder of thread.additionalDirectories ?? []) option('--add-dir', folder);
  if (thread.skipGitRepoCheck) argv.push('--skip-git-repo-check');
  option('--output-schema', schemaFile);
  if (approvalsFd !== null) option('--approvals-fd', String(approvalsFd));
  if (thread.modelReasoningEffort) config(`model_reasoning_effort=${literal(thread.modelReasoningEffort, '')}`);
  if (thread.networkAccessEnabled !== undefined) {
    config(`sandbox_workspace_write.network_access=${thread.networkAccessEnabled}`);
  }
  const search = webSearch(thread);
  if (search !== undefined) config(`web_search=${literal(search, '')}`);
  if (thread.approvalPolicy) config(`approval_policy=${literal(thread.approvalPolicy, '')}`);
  if (threadId !== null) argv.push('resume', threadId);
  for (const image of images) argv.push('--image', image);
  return argv;
}

function webSearch({ webSearchMode, webSearchEnabled }: ThreadOptions): string | undefined {
  if (webSearchMode) return webSearchMode;
  if (webSearchEnabled === undefined) return undefined;
  return webSearchEnabled ? 'live' : 'disabled';
}
