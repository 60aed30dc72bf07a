/**
 * The main job, end to end: an MCP client starts the built server, has it fix a bug in a fresh repository, and asks for
 * one thing more in the same thread. Without arguments a scripted demonstration model answers, so that no key is needed.
 *
 *   npm run demo                                       the scripted demonstration model
 *   npm run demo -- --provider openai --model ID       a real one, with your own configuration
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startScriptedModel } from './demo/scripted-model.js';
import { git, makeWorkspace, runTests } from './demo/workspace.js';
import { ensureTools, type ToolState } from './ensure-tools.js';
import { root } from './root.js';

const { values } = parseArgs({ options: { model: { type: 'string' }, provider: { type: 'string' } } });
const scripted = values.model === undefined && values.provider === undefined;
const label = scripted
  ? 'scripted demonstration model'
  : `${values.provider ?? 'configured provider'}, ${values.model ?? 'its default model'}`;

async function main(): Promise<number> {
  const lacking = lackingTools(ensureTools(console.log, ['git', 'bubblewrap']));
  if (lacking.length > 0) {
    console.log(`The demo can't run: ${lacking.join('; ')}.`);
    return 1;
  }
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  const workspace = makeWorkspace();
  const before = runTests(workspace);
  heading(`A fresh repository: ${workspace}`);
  console.log(`its tests before: ${before.summary}`);
  const model = scripted ? await startScriptedModel(new URL('./demo/script.json', import.meta.url)) : null;
  const client = await connect(workspace, model?.url);
  try {
    heading(`codex (${label})`);
    const first = await call(client, 'codex', {
      prompt: 'A test of this project fails. Find the bug, fix it and run the tests.',
      cwd: workspace,
      sandbox: 'workspace-write',
      'approval-policy': 'never',
      ...(values.model ? { model: values.model } : {}),
      ...(values.provider ? { config: { model_provider: values.provider } } : {}),
    });
    heading(`codex-reply (${label})`);
    const second = await call(client, 'codex-reply', {
      prompt: 'Add one line about this to CHANGELOG.md.',
      threadId: first.threadId,
    });
    heading('What changed');
    console.log(git(workspace, 'diff'));
    const after = runTests(workspace);
    console.log(`tests before: ${before.summary}\ntests after:  ${after.summary}\nthread id:    ${second.threadId}`);
    if (scripted)
      console.log('\nThe answers came from a scripted demonstration model; commands, patch and sandbox were real.');
    return after.passed && !before.passed ? 0 : 1;
  } finally {
    await client.close();
    model?.close();
  }
}

/** Why tools that the demo needs can't be used. */
function lackingTools({ git, bubblewrap }: ToolState): string[] {
  return [git, process.platform === 'linux' ? bubblewrap : null].filter(reason => reason !== null);
}

async function connect(workspace: string, modelUrl: string | undefined): Promise<Client> {
  const client = new Client({ name: 'demo', version: '1.0.0' });
  client.fallbackNotificationHandler = notification => {
    if (notification.method === 'codex/event') showEvent(notification.params);
    return Promise.resolve();
  };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [path.join(root, 'dist/interpreter.js'), 'mcp-server'],
      cwd: workspace,
      env: {
        ...(process.env as Record<string, string>),
        ...(modelUrl ? { INTERPRETER_HOME: scriptedHome(modelUrl) } : {}),
      },
      stderr: 'inherit',
    }),
  );
  return client;
}

/** A home of its own, so that the demonstration leaves the person's threads alone. */
function scriptedHome(modelUrl: string): string {
  const cache = path.join(homedir(), '.cache');
  mkdirSync(cache, { recursive: true });
  const home = mkdtempSync(path.join(existsSync(cache) ? cache : tmpdir(), 'interpreter-demo-home-'));
  writeFileSync(
    path.join(home, 'config.toml'),
    [
      'model = "scripted-demonstration"',
      'model_provider = "scripted"',
      'model_context_window = 100000',
      '[model_providers.scripted]',
      'name = "Scripted demonstration model"',
      `base_url = ${JSON.stringify(modelUrl)}`,
    ].join('\n'),
  );
  return home;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<{ threadId: string }> {
  const result = await client.callTool(
    { name, arguments: args },
    { timeout: 600_000, resetTimeoutOnProgress: true, onprogress: () => {} },
  );
  const { threadId, content } = result.structuredContent as { threadId: string; content: string };
  console.log(`\nanswer (${label}):\n${content}`);
  if (result.isError) throw new Error(`${name} failed: ${content}`);
  return { threadId };
}

type CodexEvent = { msg: { type: string; [field: string]: unknown } };

/** One line per event that says something to a person. */
function showEvent(params: unknown): void {
  const { msg } = params as CodexEvent;
  const line = describeEvent(msg);
  if (line) console.log(line);
}

function describeEvent(msg: CodexEvent['msg']): string | null {
  switch (msg.type) {
    case 'session_configured':
      return `  thread   ${String(msg['thread_id'])} (${String(msg['model'])})`;
    case 'agent_message':
      return `  says     ${String(msg['message'])}`;
    case 'exec_command_begin':
      return `  runs     ${(msg['command'] as string[]).at(-1)}`;
    case 'exec_command_end':
      return indent(`${String(msg['aggregated_output']).trimEnd()}\n(exit code ${String(msg['exit_code'])})`);
    case 'patch_apply_begin':
      return `  patches  ${Object.keys(msg['changes'] as object).join(', ')}`;
    case 'patch_apply_end':
      return `  patch    ${String(msg['status'])}`;
    case 'warning':
    case 'error':
    case 'stream_error':
      return `  ${msg.type}  ${String(msg['message'])}`;
    default:
      return null;
  }
}

const indent = (text: string): string => text.replace(/^/gm, '             ');

function heading(text: string): void {
  console.log(`\n── ${text} ${'─'.repeat(Math.max(0, 70 - text.length))}`);
}

process.exitCode = await main();
