/** Puts together what a turn has at hand. */
import path from 'node:path';
import { type Grants, judge, needsGrammar, type Rules, saveAllowRule } from '../approvals/index.js';
import { type Config, commandEnvironment, providerVariables } from '../config/index.js';
import type { Action, EventSink, ModelInfo, Verdict } from '../protocol/index.js';
import { pathAccess, policyEnvironment, writableRoots } from '../sandbox/index.js';
import type { ExecSessions, Tool, ToolFacts } from '../tools/index.js';
import type { Span } from '../util/index.js';
import type { AgentDeps } from './deps.js';
import type { RunOptions } from './thread.js';
import { createToolSet } from './tool-set.js';
import type { TurnContext } from './turn-context.js';
import { TurnDiff } from './turn-diff.js';

/** Output of one tool call that goes into the history, where the configuration says nothing. */
const DEFAULT_OUTPUT_TOKENS = 10_000;

export type TurnSetup = {
  readonly threadId: string;
  readonly turnId: string;
  readonly deps: AgentDeps;
  readonly config: Config;
  readonly model: ModelInfo;
  readonly tools: readonly Tool[];
  readonly sessions: ExecSessions;
  readonly grants: Grants;
  readonly rules: ThreadRules;
  readonly onGrant: (keys: readonly string[]) => void;
  readonly span: Span;
  readonly emit: EventSink;
  readonly approver: RunOptions['approver'];
  readonly signal: AbortSignal;
  readonly abort: () => void;
};

/** The rules of a thread; a saved rule counts at once. */
export interface ThreadRules {
  current(): Rules;
  reload(): Promise<void>;
}

export function createTurnContext(setup: TurnSetup): TurnContext {
  const { config, grants, rules } = setup;
  return {
    ...setup,
    tools: createToolSet(setup.tools),
    diff: new TurnDiff(config.cwd),
    facts: toolFacts(setup),
    env: sandboxed => environment(setup, sandboxed),
    outputBudgetBytes: (config.tool_output_token_limit ?? DEFAULT_OUTPUT_TOKENS) * 4,
    maxPollMs: config.background_terminal_max_timeout_ms,
    judge: (action, facts) => decide(setup, action, facts),
    grant: keys => {
      grants.add(keys);
      setup.onGrant(keys);
    },
    saveRule: async prefix => {
      await saveAllowRule(config.home, prefix);
      await rules.reload();
    },
    beforeTool: () => Promise.resolve(null),
    afterTool: () => Promise.resolve(null),
  };
}

function toolFacts({ config, deps }: TurnSetup): Omit<ToolFacts, 'call_id'> {
  return {
    cwd: config.cwd,
    policy: config.sandbox_policy,
    home: config.home,
    tmpdir: deps.env['TMPDIR'] ?? null,
    shell: deps.shell,
    allow_login_shell: config.allow_login_shell,
  };
}

function environment({ config, deps, threadId }: TurnSetup, sandboxed: boolean): Record<string, string> {
  const env = commandEnvironment(config.shell_environment, deps.env, {
    threadId,
    dropNames: providerVariables(config.provider),
    extraPath: deps.extraPath,
  });
  return sandboxed ? { ...env, ...policyEnvironment(config.sandbox_policy) } : env;
}

async function decide(setup: TurnSetup, action: Action, facts: ToolFacts): Promise<Verdict> {
  const { config, deps } = setup;
  const context = {
    policy: config.approval_policy,
    sandbox: config.sandbox_policy,
    rules: setup.rules.current(),
    grants: setup.grants,
    patchAccess: action.type === 'patch' ? patchAccess(action, facts) : ('writable' as const),
    defaulted: config.defaulted,
    userShell: deps.shell,
  };
  const loaded = needsGrammar(action, context) ? await deps.grammar.load() : null;
  return judge(action, { ...context, grammar: loaded });
}

function patchAccess(
  action: Action & { type: 'patch' },
  facts: ToolFacts,
): 'writable' | 'outside' | 'no_writable_root' {
  const where = { cwd: facts.cwd, home: facts.home, tmpdir: facts.tmpdir };
  if (writableRoots(facts.policy, where).length === 0) return 'no_writable_root';
  const writable = action.writes.every(file => pathAccess(facts.policy, where, path.resolve(file)).access === 'write');
  return writable ? 'writable' : 'outside';
}
