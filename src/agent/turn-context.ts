/** What one turn has at hand: made by the thread for each turn, read by the turn loop and the path of a tool call. */
import type {
  Action,
  Approver,
  CommandRunner,
  EventSink,
  SandboxPolicy,
  ToolOutput,
  ToolSpec,
  Verdict,
} from '../protocol/index.js';
import type { ExecSessions, Tool, ToolFacts } from '../tools/index.js';
import type { Span } from '../util/index.js';
import type { AgentDeps } from './deps.js';
import type { ToolUse } from './hooks/index.js';
import type { TurnDiff } from './turn-diff.js';

/** The tools a model is offered in this turn. */
export interface ToolSet {
  specs(): ToolSpec[];
  names(): string[];
  /** By the name the model used; `namespace` is what some wires put beside it. */
  find(name: string, namespace?: string): Tool | undefined;
}

export type TurnContext = {
  readonly threadId: string;
  readonly turnId: string;
  readonly deps: AgentDeps;
  readonly span: Span;
  readonly emit: EventSink;
  readonly approver: Approver;
  /** Fires when the turn is interrupted, by the caller or by a decision `abort`. */
  readonly signal: AbortSignal;
  /** Ends the turn: a person decided so. */
  readonly abort: () => void;
  readonly tools: ToolSet;
  /** Starts the commands of tools. */
  readonly runner: CommandRunner;
  readonly sessions: ExecSessions;
  readonly diff: TurnDiff;
  /** Facts common to all calls; `call_id` is filled in for each. */
  readonly facts: Omit<ToolFacts, 'call_id'>;
  /** Environment of a command, sandboxed or not. */
  readonly env: (sandboxed: boolean) => Record<string, string>;
  readonly outputBudgetBytes: number;
  readonly maxPollMs: number;
  readonly judge: (action: Action, facts: ToolFacts) => Promise<Verdict>;
  /** Remembers an approval for the rest of the thread. */
  readonly grant: (keys: readonly string[]) => void;
  /** Returns what went wrong, or null. */
  readonly saveRule: (prefix: string[]) => Promise<string | null>;
  /** Hooks before a tool: `blocked` is what the model gets instead of running it, `contexts` go with the output. */
  readonly beforeTool: (use: ToolUse) => Promise<{ blocked: string | null; contexts: readonly string[] }>;
  /** Called when a call may run and is about to, under this policy. */
  readonly beforeRun: (action: Action, policy: SandboxPolicy) => Promise<void>;
  /** Hooks after a tool: texts to add to the output. */
  readonly afterTool: (use: ToolUse, output: ToolOutput) => Promise<readonly string[]>;
};
