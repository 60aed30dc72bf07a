/**
 * The contract of a tool. A call goes: `parse` (what the model wrote -> input), `plan` (what would be touched), the
 * verdict and perhaps a question (made by the agent), `run`. A tool never asks and never decides.
 */
import type {
  Action,
  ApprovalDecision,
  CommandRunner,
  EventSink,
  Item,
  ParsedCommand,
  SandboxPolicy,
  ToolOutput,
  ToolSpec,
} from '../protocol/index.js';
import type { Span } from '../util/index.js';
import type { ExecSessions } from './exec-sessions.js';

/** What a plan may know without touching anything. */
export type ToolFacts = {
  readonly call_id: string;
  /** Where relative paths start, absolute: the thread's working directory, or where a `cd` before a patch leads. */
  readonly cwd: string;
  /** The thread's working directory, absolute: the root that `workspace-write` opens, whatever `cwd` a model chooses. */
  readonly workspace: string;
  readonly policy: SandboxPolicy;
  /** The agent's own home, protected like `.git`. */
  readonly home: string;
  /** TMPDIR of the commands, when set. */
  readonly tmpdir: string | null;
  /** Absolute path of the user's shell. */
  readonly shell: string;
  readonly allow_login_shell: boolean;
};

export type ToolContext = ToolFacts & {
  /** How the verdict lets it run: false = outside the sandbox. `policy` is already the effective one. */
  readonly sandboxed: boolean;
  /** The whole environment of commands. */
  readonly env: Readonly<Record<string, string>>;
  readonly runner: CommandRunner;
  readonly sessions: ExecSessions;
  /** Fires when the turn is interrupted; the tool ends what it started and returns within a second. */
  readonly signal: AbortSignal;
  readonly emit: EventSink;
  /** Of this call; commands and inner servers hang theirs below it. */
  readonly span: Span;
  /** Budget of one output in the history, UTF-8 bytes. */
  readonly output_budget_bytes: number;
  /** What the command of this call seems to do, for display. */
  readonly parsed_command: ParsedCommand[];
  /** Upper limit of `yield_time_ms` of an empty poll, milliseconds. */
  readonly max_poll_ms: number;
  /** Passes a question of an MCP server on to a person; a no where the policy lets none through. Absent = nobody is there. */
  readonly ask?: (question: ServerQuestion) => Promise<ApprovalDecision>;
};

export type ServerQuestion = {
  readonly server: string;
  readonly message: string;
  /** A flat JSON Schema object of what is to be filled in, as the server sent it; null = nothing. */
  readonly requested_schema: unknown;
};

export type ToolResult = {
  output: ToolOutput;
  is_error: boolean;
};

export type Plan =
  /** `item` is started before the question is asked and completed as declined when the answer is no. */
  | { type: 'act'; action: Action; item?: Item }
  /** The call can't be carried out; the model is told `message` and the turn goes on. */
  | { type: 'invalid'; message: string }
  /** The call is really one of another tool (a patch inside a shell command). `present` frames its output. */
  | { type: 'redirect'; tool: string; raw: string; cwd: string; present: (output: string, ms: number) => string };

/** What a tool does, apart from the name and the arguments that a model knows it by. */
export interface ToolAction<Input> {
  readonly parallel: boolean;
  /** What `runsAlone` of a tool says, of a parsed call. */
  alone?(input: Input): boolean;
  plan(input: Input, facts: ToolFacts): Promise<Plan>;
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

export type Parsed<Input> = { ok: true; input: Input } | { ok: false; message: string };

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly spec: ToolSpec;
  /** True when it may run at the same time as other calls of one response. */
  readonly parallel: boolean;
  /** True for a call that must not, although the tool is parallel; `raw` as for `parse`. Absent = no call is one. */
  runsAlone?(raw: string): boolean;
  /** `raw`: the JSON text of a function call, the plain text of a custom call. Never throws. */
  parse(raw: string): Parsed<Input>;
  /** May read, never writes. Never throws: what is wrong with the call is an `invalid` plan. */
  plan(input: Input, facts: ToolFacts): Promise<Plan>;
  /** Emits the items it produces. Throws only when we are wrong. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
