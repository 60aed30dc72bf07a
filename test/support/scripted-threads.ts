/**
 * Threads without a model: a real ThreadManager whose turns follow a script, given as the prompt. Turns of one thread
 * run one after the other, an interrupt ends them, approvals are asked and obeyed.
 */
import { uuidv7 } from 'uuidv7';
import type { RunOptions, Thread, ThreadManager, TurnResult } from '../../src/agent/index.js';
import type { Config } from '../../src/config/index.js';
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type Event,
  type FileChange,
  type Item,
  NO_USAGE,
  type PlanStep,
  type ThreadSettings,
  type TokenUsage,
  type TurnError,
} from '../../src/protocol/index.js';
import { delay } from '../../src/util/index.js';

export type Ask = { reason?: string; unsandboxed?: boolean; rule?: string[]; onceOnly?: true };

export type Step =
  | { say: string; chunks?: number; pauseMs?: number }
  | { think: string }
  | { command: string; output?: string; exit?: number; ask?: Ask; id?: string }
  | { patch: Record<string, FileChange>; ask?: Ask }
  | { tool: string; server: string; arguments?: unknown; ask?: Ask }
  | { elicit: string; server: string; schema: unknown }
  | { plan: PlanStep[] }
  | { search: string }
  | { image: string }
  | { compact: true }
  | { warn: string }
  | { retry: string }
  /** Says what was decided so far, as JSON. */
  | { decisions: true }
  /** Milliseconds; -1 = until interrupted. */
  | { wait: number }
  | { flood: 'text' | 'output' | 'items'; count: number; size: number }
  | { together: Step[] }
  | { print: string }
  | { fail: TurnError }
  /** The turn rejects: a fault of the product. */
  | { crash: string };

/** The prompt that makes a turn follow these steps. */
export function script(...steps: Step[]): string {
  return JSON.stringify(steps);
}

class ThreadUnavailableError extends Error {
  readonly reason = 'not_found';
  override readonly name = 'ThreadUnavailableError';
}

export class ScriptedThreads implements ThreadManager {
  readonly #threads = new Map<string, ScriptedThread>();
  readonly #closing = new AbortController();

  startThread(config: Config): Promise<Thread> {
    if (config.model === 'unstartable') return Promise.reject(new Error('MCP server mustone is required but failed'));
    const thread = new ScriptedThread(config, this.#closing.signal);
    this.#threads.set(thread.id, thread);
    return Promise.resolve(thread);
  }

  getThread(id: string): Promise<Thread> {
    const thread = this.#threads.get(id);
    if (thread) return Promise.resolve(thread);
    return Promise.reject(new ThreadUnavailableError(`No thread with id ${id} was found.`));
  }

  close(): Promise<void> {
    this.#closing.abort();
    return Promise.resolve();
  }
}

class ScriptedThread implements Thread {
  readonly id = uuidv7();
  readonly settings: ThreadSettings;
  readonly #closing: AbortSignal;
  #last: Promise<unknown> = Promise.resolve();
  #started = false;
  #usage: TokenUsage = NO_USAGE;

  constructor(config: Config, closing: AbortSignal) {
    this.#closing = closing;
    this.settings = {
      model: config.model,
      model_provider: config.provider.id,
      cwd: config.cwd,
      approval_policy: config.approval_policy,
      sandbox_policy: config.sandbox_policy,
      reasoning_effort: config.model_reasoning_effort,
      rollout_path: `${config.home}/sessions/rollout-${this.id}.jsonl`,
    };
  }

  run(options: RunOptions): Promise<TurnResult> {
    const turn = this.#last.then(() => this.#turn(options));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #turn(options: RunOptions): Promise<TurnResult> {
    if (!this.#started) {
      this.#started = true;
      options.onEvent({ type: 'thread.started', thread_id: this.id, settings: this.settings });
      options.onEvent({ type: 'mcp_servers.ready', ready: [], failed: [], cancelled: [] });
    }
    this.#usage = { ...this.#usage, input_tokens: this.#usage.input_tokens + 100 };
    this.#usage.total_tokens = this.#usage.input_tokens;
    const signal = AbortSignal.any([options.signal, this.#closing]);
    return new ScriptedTurn({ thread: this, options, signal, usage: this.#usage }).run();
  }
}

type TurnParts = { thread: ScriptedThread; options: RunOptions; signal: AbortSignal; usage: TokenUsage };

class ScriptedTurn {
  readonly #parts: TurnParts;
  readonly #turnId = uuidv7();
  readonly #startedAt = Date.now();
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #decisions: ApprovalDecision[] = [];
  readonly #changes: Record<string, FileChange> = {};
  #abortedBy: 'signal' | 'decision' = 'signal';
  #content = '';
  #error: TurnError | null = null;
  #calls = 0;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#signal = AbortSignal.any([parts.signal, this.#stop.signal]);
  }

  async run(): Promise<TurnResult> {
    const text = this.#parts.options.input.map(part => (part.type === 'text' ? part.text : part.path)).join('\n');
    this.#emit({
      type: 'turn.started',
      turn_id: this.#turnId,
      started_at_ms: this.#startedAt,
      model_context_window: 100_000,
    });
    this.#emit({
      type: 'history.added',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    this.#item({ type: 'user_message', id: uuidv7(), content: [{ type: 'text', text }] });
    for (const step of stepsOf(text)) {
      if (this.#over()) break;
      await this.#step(step);
    }
    return this.#end();
  }

  #over(): boolean {
    return this.#signal.aborted || this.#error !== null;
  }

  async #step(step: Step): Promise<void> {
    if ('say' in step) return this.#say(step);
    if ('think' in step) return this.#think(step.think);
    if ('command' in step) return this.#command(step);
    if ('patch' in step) return this.#patch(step);
    if ('tool' in step) return this.#tool(step);
    if ('elicit' in step) {
      const { server, elicit: message, schema } = step;
      await this.#ask({ type: 'elicitation', server, message, requested_schema: schema }, {});
    } else if ('plan' in step) {
      this.#item({ type: 'plan', id: 'plan', explanation: 'why', steps: step.plan });
    } else if ('search' in step) {
      const action = { type: 'search', query: step.search };
      this.#item({ type: 'web_search', id: this.#callId(), query: step.search, action });
    } else if ('image' in step) this.#completed({ type: 'image_view', id: this.#callId(), path: step.image });
    else if ('compact' in step) {
      this.#item({ type: 'compaction', id: this.#callId() });
      this.#emit({ type: 'context.compacted', message: 'summary', replacement: [] });
    } else if ('warn' in step) this.#completed({ type: 'warning', id: uuidv7(), message: step.warn });
    else if ('retry' in step) {
      this.#emit({ type: 'retry', attempt: 1, max: 2, message: 'lost', details: step.retry, delay_ms: 1 });
    } else if ('decisions' in step) await this.#say({ say: JSON.stringify(this.#decisions) });
    else if ('wait' in step) await this.#wait(step.wait);
    else if ('flood' in step) this.#flood(step);
    else if ('together' in step) await Promise.all(step.together.map(one => this.#step(one)));
    else if ('print' in step) {
      console.log(step.print);
      process.stdout.write(`${step.print}\n`);
    } else if ('fail' in step) this.#error = step.fail;
    else throw new Error(step.crash);
  }

  async #say({ say, chunks = 1, pauseMs = 0 }: Extract<Step, { say: string }>): Promise<void> {
    const id = uuidv7();
    this.#started({ type: 'agent_message', id, text: '' });
    const size = Math.ceil(say.length / chunks) || 1;
    for (let at = 0; at < say.length; at += size) {
      this.#emit({ type: 'text.delta', item_id: id, delta: say.slice(at, at + size) });
      if (pauseMs > 0) await delay(pauseMs, this.#signal);
    }
    this.#content = say;
    this.#completed({ type: 'agent_message', id, text: say });
    const usage = { ...NO_USAGE, input_tokens: 100, total_tokens: 100 };
    this.#emit({ type: 'response.completed', response_id: 'resp_1', usage });
    this.#emit({ type: 'usage.updated', last: usage, total: this.#parts.usage, model_context_window: 100_000 });
  }

  #think(text: string): void {
    const id = uuidv7();
    this.#started({ type: 'reasoning', id, summary: [], raw: [] });
    this.#emit({ type: 'reasoning.section', item_id: id, summary_index: 0 });
    this.#emit({ type: 'reasoning.delta', item_id: id, summary_index: 0, delta: text });
    this.#completed({ type: 'reasoning', id, summary: [text], raw: [] });
  }

  async #command(step: Extract<Step, { command: string }>): Promise<void> {
    const argv = ['/bin/bash', '-lc', step.command];
    const { cwd } = this.#parts.thread.settings;
    const parsed = [{ type: 'unknown' as const, cmd: step.command }];
    const id = step.id ?? this.#callId();
    if (step.ask) {
      const { rule, unsandboxed = false } = step.ask;
      const question = { type: 'command' as const, command: argv, cwd, parsed, unsandboxed };
      const allowed = await this.#ask({ ...question, ...(rule && { proposed_rule: rule }) }, step.ask, id);
      if (!allowed || this.#over()) return;
    }
    const base = {
      type: 'command_execution' as const,
      id,
      process_id: '4711',
      command: argv,
      cwd,
      parsed,
      source: 'unified_exec_startup' as const,
      aggregated_output: '',
      exit_code: null,
      duration_ms: null,
    };
    this.#started({ ...base, status: 'in_progress' });
    const output = step.output ?? '';
    if (output !== '')
      this.#emit({ type: 'command.output', item_id: id, chunk: Buffer.from(output).toString('base64') });
    const exit = step.exit ?? 0;
    this.#completed({
      ...base,
      status: exit === 0 ? 'completed' : 'failed',
      aggregated_output: output,
      exit_code: exit,
      duration_ms: 1500,
    });
  }

  async #patch(step: Extract<Step, { patch: Record<string, FileChange> }>): Promise<void> {
    const id = this.#callId();
    const base = { type: 'file_change' as const, id, changes: step.patch, stdout: '', stderr: '' };
    this.#started({ ...base, auto_approved: !step.ask, status: 'in_progress' });
    if (step.ask) {
      const { cwd } = this.#parts.thread.settings;
      const unsandboxed = step.ask.unsandboxed ?? false;
      const allowed = await this.#ask({ type: 'patch', changes: step.patch, cwd, unsandboxed }, step.ask, id);
      if (!allowed) return this.#completed({ ...base, auto_approved: false, status: 'declined' });
    }
    Object.assign(this.#changes, step.patch);
    this.#completed({ ...base, auto_approved: !step.ask, status: 'completed', stdout: 'Success.' });
    this.#emit({ type: 'diff.updated', unified_diff: 'diff --git a/x b/x\n' });
  }

  async #tool(step: Extract<Step, { tool: string }>): Promise<void> {
    const id = this.#callId();
    const call = { server: step.server, tool: step.tool, arguments: step.arguments ?? {} };
    if (step.ask && !(await this.#ask({ type: 'mcp_tool', ...call, description: 'A tool.' }, step.ask, id))) return;
    const base = { type: 'mcp_tool_call' as const, id, ...call, read_only: false, error: null };
    this.#started({ ...base, status: 'in_progress', result: null, duration_ms: null });
    const result = { content: [{ type: 'text', text: 'ok' }] };
    this.#completed({ ...base, status: 'completed', result, duration_ms: 12 });
  }

  async #ask(
    question: DistributiveOmit<ApprovalRequest, BaseKeys>,
    ask: Ask,
    callId = this.#callId(),
  ): Promise<boolean> {
    const request = {
      id: uuidv7(),
      thread_id: this.#parts.thread.id,
      turn_id: this.#turnId,
      call_id: callId,
      reason: ask.reason ?? null,
      ...(ask.onceOnly && { once_only: ask.onceOnly }),
      ...question,
    } as ApprovalRequest;
    this.#emit({ type: 'approval.requested', request });
    const decision = await this.#parts.options.approver(request, this.#signal);
    this.#decisions.push(decision);
    const kind = decision.type === 'denied' || decision.type === 'abort' ? decision.type : 'approved';
    this.#emit({ type: 'approval.decided', request_id: request.id, decision: kind });
    if (decision.type === 'abort') {
      this.#abortedBy = 'decision';
      this.#stop.abort();
    }
    return kind === 'approved';
  }

  async #wait(ms: number): Promise<void> {
    if (ms >= 0) await delay(ms, this.#signal);
    else if (!this.#signal.aborted) {
      await new Promise(resolve => this.#signal.addEventListener('abort', resolve, { once: true }));
    }
  }

  #flood({ flood, count, size }: Extract<Step, { flood: string }>): void {
    const id = uuidv7();
    const text = 'x'.repeat(size);
    for (let i = 0; i < count; i++) {
      if (flood === 'text') this.#emit({ type: 'text.delta', item_id: id, delta: text });
      else if (flood === 'output') this.#emit({ type: 'command.output', item_id: id, chunk: btoa(text) });
      else this.#completed({ type: 'warning', id: uuidv7(), message: text });
    }
  }

  #end(): TurnResult {
    const times = { started_at_ms: this.#startedAt, completed_at_ms: Date.now(), first_token_ms: 5 };
    const base = { type: 'turn.completed' as const, turn_id: this.#turnId, ...times };
    const aborted = this.#signal.aborted;
    if (aborted) this.#emit({ ...base, type: 'turn.aborted', reason: 'interrupted' });
    else if (this.#error) this.#emit({ ...base, type: 'turn.failed', error: this.#error });
    else this.#emit({ ...base, last_message: this.#content });
    return {
      thread_id: this.#parts.thread.id,
      turn_id: this.#turnId,
      status: aborted ? 'aborted' : this.#error ? 'failed' : 'completed',
      content: this.#content,
      error: aborted ? null : this.#error,
      usage: this.#parts.usage,
      changes: this.#changes,
      aborted_by: aborted ? this.#abortedBy : null,
    };
  }

  #callId(): string {
    this.#calls++;
    return `call_${this.#calls}`;
  }

  #emit(event: Event): void {
    this.#parts.options.onEvent(event);
  }

  #started(item: Item): void {
    this.#emit({ type: 'item.started', item, at_ms: Date.now() });
  }

  #completed(item: Item): void {
    this.#emit({ type: 'item.completed', item, at_ms: Date.now() });
  }

  #item(item: Item): void {
    this.#started(item);
    this.#completed(item);
  }
}

type BaseKeys = 'id' | 'thread_id' | 'turn_id' | 'call_id' | 'reason';
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function stepsOf(prompt: string): Step[] {
  if (!prompt.startsWith('[')) return [{ say: `said: ${prompt}` }];
  return JSON.parse(prompt) as Step[];
}
