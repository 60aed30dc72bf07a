/** A workspace of real files, and apply_patch called the way the agent does. */
import fs from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Event } from '../../src/protocol/index.js';
import { applyPatchTool, ExecSessions, type Plan, type ToolContext, type ToolFacts } from '../../src/tools/index.js';

export type Files = Record<string, string | Buffer>;

/** An empty directory outside of /tmp, which is a writable folder of its own. Removed after the test. */
export function directory(): string {
  const made = fs.realpathSync(fs.mkdtempSync('/var/tmp/apply-patch-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

export function workspace(files: Files = {}): string {
  const root = directory();
  putFiles(root, files);
  return root;
}

export function putFiles(root: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), content);
  }
}

/** Everything below a directory: contents, where links point, `/` for a directory. */
export function snapshot(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(root, file);
    if (entry.isSymbolicLink()) found[name] = `-> ${fs.readlinkSync(file)}`;
    else found[name] = entry.isDirectory() ? '/' : fs.readFileSync(file, 'latin1');
  }
  return found;
}

export const patchText = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
export const update = (file: string, ...lines: string[]) => patchText(`*** Update File: ${file}`, ...lines);

export function facts(cwd: string, over: Partial<ToolFacts> = {}): ToolFacts {
  return {
    call_id: 'call_1',
    cwd,
    workspace: cwd,
    policy: { type: 'danger-full-access' },
    home: '/nonexistent/home',
    tmpdir: null,
    shell: '/bin/sh',
    allow_login_shell: true,
    ...over,
  };
}

export type Applied = {
  output: string;
  is_error: boolean;
  events: Event[];
  plan: Plan | null;
};

export type ApplyOptions = Partial<Pick<ToolContext, 'policy' | 'sandboxed' | 'signal' | 'tmpdir' | 'home'>> & {
  /** Happens between plan and run, as an approval or another program would. */
  meanwhile?: () => void;
};

/** Parses, plans and runs a patch; a call that is refused before it runs has no events. */
export async function applyPatch(cwd: string, raw: string, options: ApplyOptions = {}): Promise<Applied> {
  const { meanwhile, ...over } = options;
  const parsed = applyPatchTool.parse(raw);
  if (!parsed.ok) return { output: parsed.message, is_error: true, events: [], plan: null };
  const given = facts(cwd, over);
  const plan = await applyPatchTool.plan(parsed.input, given);
  if (plan.type === 'invalid') return { output: plan.message, is_error: true, events: [], plan };
  meanwhile?.();
  const events: Event[] = [];
  const result = await applyPatchTool.run(parsed.input, context(given, over, events));
  if (typeof result.output !== 'string') throw new Error('apply_patch answers with text');
  return { output: result.output, is_error: result.is_error, events, plan };
}

function context(given: ToolFacts, over: Partial<ToolContext>, events: Event[]): ToolContext {
  const unused = () => {
    throw new Error('apply_patch starts no commands');
  };
  return {
    ...given,
    sandboxed: given.policy.type !== 'danger-full-access',
    env: {},
    runner: { start: unused },
    sessions: new ExecSessions(),
    signal: new AbortController().signal,
    emit: event => events.push(event),
    span: { setAttributes: unused, fail: unused, end: unused, span: unused, event: unused, context: () => ({}) },
    output_budget_bytes: 40_000,
    parsed_command: [],
    max_poll_ms: 1000,
    ...over,
  };
}
