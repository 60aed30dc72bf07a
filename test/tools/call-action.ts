/** Actions of tools called the way the agent does, in a workspace of real files and with a real sandbox. */
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { onTestFinished } from 'vitest';
import type { Event, SandboxPolicy } from '../../src/protocol/index.js';
import { createSandbox } from '../../src/sandbox/index.js';
import {
  ExecSessions,
  type Plan,
  type ToolAction,
  type ToolContext,
  type ToolFacts,
  type ToolResult,
} from '../../src/tools/index.js';
import { noTracer } from '../../src/util/index.js';
import { directory, facts } from './apply-patch-support.js';

/** As the agent gives it to commands: a ripgrep of the machine comes before the one we bring along. */
export const WITH_RIPGREP = { PATH: [process.env['PATH'], path.dirname(rgPath)].join(path.delimiter) };

export type CallOptions = Partial<Pick<ToolContext, 'policy' | 'signal' | 'output_budget_bytes' | 'env' | 'home'>> & {
  /** Happens between plan and run, as an approval or another program would. */
  meanwhile?: () => void;
};

export type Called = { output: string; is_error: boolean; events: Event[]; plan: Plan };

/** Plans and runs a call; one that is refused before it runs has no events. */
export async function callAction<Call>(
  action: ToolAction<Call>,
  call: Call,
  cwd: string,
  options: CallOptions = {},
): Promise<Called> {
  const { meanwhile, ...over } = options;
  const given = facts(cwd, over.policy ? { policy: over.policy } : {});
  const plan = await action.plan(call, given);
  if (plan.type === 'invalid') return { output: plan.message, is_error: true, events: [], plan };
  meanwhile?.();
  const events: Event[] = [];
  const result = await action.run(call, toolContext(given, over, events));
  return { output: textOf(result), is_error: result.is_error, events, plan };
}

function textOf({ output }: ToolResult): string {
  return typeof output === 'string'
    ? output
    : output.map(part => ('text' in part ? part.text : part.image_url)).join('\n');
}

function toolContext(given: ToolFacts, over: Partial<ToolContext>, events: Event[]): ToolContext {
  const env = WITH_RIPGREP;
  const state = directory();
  const sandbox = createSandbox({ home: state, stateDir: path.join(state, 'state'), env, warn: () => {} });
  onTestFinished(() => sandbox.close());
  const unused = () => Promise.reject(new Error('these tools ask nobody'));
  return {
    ...given,
    sandboxed: given.policy.type !== 'danger-full-access',
    env,
    runner: sandbox,
    sessions: new ExecSessions(),
    signal: new AbortController().signal,
    emit: event => events.push(event),
    ask: unused,
    span: noTracer.span('test', {}),
    output_budget_bytes: 40_000,
    parsed_command: [],
    max_poll_ms: 1000,
    ...over,
  };
}

/** Everything may be read but the paths given. */
export function hiding(...paths: string[]): SandboxPolicy {
  return {
    type: 'profile',
    name: 'hiding',
    filesystem: [
      { access: 'read', target: { path: '/' } },
      ...paths.map(hidden => ({ access: 'deny' as const, target: { path: hidden } })),
    ],
    network: { type: 'off' },
    allow_unix_sockets: false,
  };
}
