/** The declarations of the built package: the documentation compiles, and so does what was written for the Codex SDK. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHECKOUT, install } from './installed.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync('/var/tmp/sdk-types-');
  install(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compile(files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const flags = '--noEmit --strict --module nodenext --target es2023 --types node --noUncheckedIndexedAccess'.split(
    ' ',
  );
  const tsc = path.join(CHECKOUT, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, [...flags, ...Object.keys(files)], { cwd: folder, encoding: 'utf8' });
  return stdout;
}

/** A program that uses all of the Codex SDK; `PACKAGE` is where it comes from. */
const PROGRAM = `
import { Codex, Thread, type CodexOptions, type ThreadOptions, type TurnOptions, type ThreadEvent, type ThreadItem,
  type Input, type UserInput, type RunResult, type RunStreamedResult, type Usage, type AgentMessageItem, type ApprovalMode,
  type CommandExecutionItem, type ErrorItem, type FileChangeItem, type ItemCompletedEvent, type ItemStartedEvent,
  type ItemUpdatedEvent, type McpToolCallItem, type ModelReasoningEffort, type ReasoningItem, type SandboxMode,
  type ThreadError, type ThreadErrorEvent, type ThreadStartedEvent, type TodoListItem, type TurnCompletedEvent,
  type TurnFailedEvent, type TurnStartedEvent, type WebSearchItem, type WebSearchMode } from 'PACKAGE';

const options: CodexOptions = { codexPathOverride: 'interpreter', baseUrl: 'u', apiKey: 'k', env: { A: 'b' },
  config: { a: 1, b: [true, 'x'], c: { d: {} } } };
const threadOptions: ThreadOptions = { model: 'm', sandboxMode: 'read-only', workingDirectory: '/', skipGitRepoCheck: true,
  modelReasoningEffort: 'xhigh', networkAccessEnabled: false, webSearchMode: 'live', webSearchEnabled: true,
  approvalPolicy: 'on-failure', additionalDirectories: ['/x'] };
const codex = new Codex(options);
const thread: Thread = codex.startThread(threadOptions);
const turnOptions: TurnOptions = { outputSchema: { type: 'object' }, signal: new AbortController().signal };
const input: Input = [{ type: 'text', text: 't' }, { type: 'local_image', path: 'p' } satisfies UserInput];

function status(item: ThreadItem): string {
  switch (item.type) {
    case 'agent_message': return (item satisfies AgentMessageItem).text;
    case 'reasoning': return (item satisfies ReasoningItem).text;
    case 'command_execution': {
      const code: number | undefined = (item satisfies CommandExecutionItem).exit_code;
      const state: 'in_progress' | 'completed' | 'failed' = item.status;
      return item.command + item.aggregated_output + (code ?? '') + state;
    }
    case 'file_change': {
      const state: 'completed' | 'failed' = (item satisfies FileChangeItem).status;
      return state + item.changes.map(({ path, kind }) => path + kind).join();
    }
    case 'mcp_tool_call': {
      const [block] = (item satisfies McpToolCallItem).result?.content ?? [];
      const text: string = block?.type === 'text' ? block.text : block?.type === 'image' ? block.mimeType : '';
      return text + item.error?.message + item.server + item.tool + String(item.arguments) + item.status;
    }
    case 'web_search': return (item satisfies WebSearchItem).query;
    case 'todo_list': return (item satisfies TodoListItem).items.map(({ text, completed }) => text + completed).join();
    case 'error': return (item satisfies ErrorItem).message;
  }
}

function told(event: ThreadEvent): string {
  switch (event.type) {
    case 'thread.started': return (event satisfies ThreadStartedEvent).thread_id;
    case 'turn.started': return (event satisfies TurnStartedEvent).type;
    case 'turn.completed': return String((event satisfies TurnCompletedEvent).usage.cache_write_input_tokens);
    case 'turn.failed': return ((event satisfies TurnFailedEvent).error satisfies ThreadError).message;
    case 'item.started': return status((event satisfies ItemStartedEvent).item);
    case 'item.updated': return status((event satisfies ItemUpdatedEvent).item);
    case 'item.completed': return status((event satisfies ItemCompletedEvent).item);
    case 'error': return (event satisfies ThreadErrorEvent).message;
  }
}

export async function main(): Promise<string> {
  const turn: RunResult = await thread.run(input, turnOptions);
  const usage: Usage | null = turn.usage;
  const streamed: RunStreamedResult = await codex.resumeThread(thread.id ?? '').runStreamed('hi');
  for await (const event of streamed.events) told(event);
  const modes: [ApprovalMode, SandboxMode, ModelReasoningEffort, WebSearchMode] = ['never', 'read-only', 'low', 'cached'];
  return turn.finalResponse + turn.items.map(status).join() + usage?.input_tokens + modes.join();
}
`;

/** What we hand out can be used wherever theirs could, and what they take can be given to us. */
const BOTH = `
import type * as theirs from '@openai/codex-sdk';
import type * as ours from 'open-interpreter';

export const event = (given: ours.ThreadEvent): theirs.ThreadEvent => given;
export const item = (given: ours.ThreadItem): theirs.ThreadItem => given;
export const result = (given: ours.RunResult): theirs.RunResult => given;
export const options = (given: theirs.CodexOptions): ours.CodexOptions => given;
export const threadOptions = (given: theirs.ThreadOptions): ours.ThreadOptions => given;
export const turnOptions = (given: theirs.TurnOptions): ours.TurnOptions => given;
export const input = (given: theirs.Input): ours.Input => given;
`;

test('a program for the Codex SDK compiles when its import is changed, as an ES module and as CommonJS', {
  timeout: 60_000,
}, () => {
  expect(
    compile({
      'codex.mts': PROGRAM.replace('PACKAGE', '@openai/codex-sdk'),
      'ours.mts': PROGRAM.replace('PACKAGE', 'open-interpreter'),
      'ours.cts': PROGRAM.replace('PACKAGE', 'open-interpreter'),
      'both.mts': BOTH,
    }),
  ).toBe('');
});

test('the examples of docs/sdk.md compile', { timeout: 60_000 }, () => {
  const text = readFileSync(path.join(CHECKOUT, 'docs/sdk.md'), 'utf8');
  const snippets = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  expect(snippets.length).toBeGreaterThan(5);
  expect(compile(Object.fromEntries(snippets.map((code, at) => [`docs-${at}.mts`, code])))).toBe('');
});

test('a bundler leaves out what is not used', async () => {
  const size = async (code: string): Promise<number> => {
    const { outputFiles } = await build({
      stdin: { contents: code, resolveDir: folder },
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      minify: true,
      external: ['zod'],
    });
    return outputFiles[0]?.contents.length ?? 0;
  };
  expect(await size("import { Interpreter } from 'open-interpreter';")).toBe(0);
  // The library only: no agent comes with it.
  expect(await size("import { Interpreter } from 'open-interpreter'; new Interpreter();")).toBeLessThan(40_000);
});
