/** Puts together what a turn has at hand. */
import path from 'node:path';
import {
  type Grants,
  type JudgeContext,
  judge,
  needsGrammar,
  type Rules,
  type ShellGrammar,
  saveAllowRule,
  withNetworkRules,
} from '../approvals/index.js';
import type { Config } from '../config/index.js';
import type { Action, EventSink, ModelInfo, SandboxPolicy, Verdict } from '../protocol/index.js';
import { pathAccess, policyEnvironment, writableRoots } from '../sandbox/index.js';
import { type ExecSessions, policyPlaces, type Tool, type ToolFacts } from '../tools/index.js';
import { messageOf, type Span } from '../util/index.js';
import type { AgentDeps } from './deps.js';
import type { TurnHooks } from './hooks/index.js';
import type { RunOptions } from './thread.js';
import { threadEnvironment } from './thread-environment.js';
import { type ChangingTools, createToolSet } from './tool-set.js';
import type { TurnContext } from './turn-context.js';
import { TurnDiff } from './turn-diff.js';
import { turnRunner } from './turn-runner.js';
import type { TurnUndo } from './undo/index.js';

/** Output of one tool call that goes into the history, where the configuration says nothing. */
const DEFAULT_OUTPUT_TOKENS = 10_000;

export type TurnSetup = {
  readonly threadId: string;
  readonly turnId: string;
  readonly deps: AgentDeps;
  readonly config: Config;
  readonly model: ModelInfo;
  readonly tools: readonly Tool[];
  /** Those of MCP servers, which come and go. */
  readonly serverTools: ChangingTools | null;
  readonly sessions: ExecSessions;
  readonly grants: Grants;
  readonly rules: ThreadRules;
  readonly hooks: TurnHooks;
  readonly undo: TurnUndo | null;
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
    tools: createToolSet(setup.tools, setup.serverTools),
    runner: turnRunner(setup.deps.sandbox, setup.emit),
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
      try {
        await saveAllowRule(config.home, prefix);
        await rules.reload();
        return null;
      } catch (error) {
        return `The rule could not be saved: ${messageOf(error)}`;
      }
    },
    beforeTool: use => setup.hooks.preToolUse(use),
    beforeRun: (action, policy) => setup.undo?.before(action, policy) ?? Promise.resolve(),
    afterTool: (use, output) => setup.hooks.postToolUse(use, output),
  };
}

/** The sandbox of the thread; rules may add hosts to a profile. */
function sandboxPolicy({ config, rules }: TurnSetup): SandboxPolicy {
  return withNetworkRules(config.sandbox_policy, rules.current());
}

function toolFacts(setup: TurnSetup): Omit<ToolFacts, 'call_id'> {
  const { config, deps } = setup;
  return {
    cwd: config.cwd,
    workspace: config.cwd,
    policy: sandboxPolicy(setup),
    home: config.home,
    tmpdir: deps.env['TMPDIR'] ?? null,
    shell: deps.shell,
    allow_login_shell: config.allow_login_shell,
  };
}

function environment(setup: TurnSetup, sandboxed: boolean): Record<string, string> {
  const env = threadEnvironment(setup.threadId, setup.config, setup.deps);
  return sandboxed ? { ...env, ...policyEnvironment(sandboxPolicy(setup)) } : env;
}

async function decide(setup: TurnSetup, action: Action, facts: ToolFacts): Promise<Verdict> {
  const { config, deps } = setup;
  const context = {
    policy: config.approval_policy,
    sandbox: facts.policy,
    rules: setup.rules.current(),
    grants: setup.grants,
    patchAccess: action.type === 'patch' ? patchAccess(action, facts) : ('writable' as const),
    defaulted: config.defaulted,
    userShell: deps.shell,
  };
  return judge(action, { ...context, grammar: await grammarFor(action, context, deps) });
}

/** Without the grammar a verdict takes what it can't read for the worst it may be. */
async function grammarFor(
  action: Action,
  context: Omit<JudgeContext, 'grammar'>,
  deps: AgentDeps,
): Promise<ShellGrammar | null> {
  if (!needsGrammar(action, context)) return null;
  try {
    return await deps.grammar.load();
  } catch (error) {
    deps.warn(messageOf(error));
    return null;
  }
}

function patchAccess(
  action: Action & { type: 'patch' },
  facts: ToolFacts,
): 'writable' | 'outside' | 'no_writable_root' {
  const where = policyPlaces(facts);
  if (writableRoots(facts.policy, where).length === 0) return 'no_writable_root';
  const writable = action.writes.every(file => pathAccess(facts.policy, where, path.resolve(file)).access === 'write');
  return writable ? 'writable' : 'outside';
}
