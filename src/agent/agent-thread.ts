/** One thread: its history and settings, its record on disk, and its turns, one after the other. */
import { createGrants, type Grants } from '../approvals/index.js';
import type { Config } from '../config/index.js';
import type { ThreadServers } from '../mcp-client/index.js';
import { type EventSink, NO_USAGE, type ThreadSettings } from '../protocol/index.js';
import {
  acquireThreadLock,
  type LockResult,
  repairHistory,
  type ThreadRecord as StoredRecord,
} from '../rollout/index.js';
import { ExecSessions } from '../tools/index.js';
import { type LinkedController, linkedController, messageOf, stackOf, within } from '../util/index.js';
import { type AnswerCheck, createAnswerCheck } from './answer-check.js';
import { message, type SentContext } from './context.js';
import { type AgentDeps, placed } from './deps.js';
import { createHooks, createNotifier, type Notifier, type ThreadHooks, type TurnHooks } from './hooks/index.js';
import { newId } from './ids.js';
import { createThreadProfile, type ThreadProfile } from './profiles/index.js';
import { readThread } from './read-thread.js';
import { Serial } from './serial.js';
import { ThreadSkills } from './skills/index.js';
import { storedHarness } from './stored-settings.js';
import type { RunOptions, Thread, TurnResult } from './thread.js';
import { ThreadContext } from './thread-context.js';
import { ThreadMcp } from './thread-mcp.js';
import { ThreadRecord } from './thread-record.js';
import { LoadedThreadRules } from './thread-rules.js';
import { addToHistory, compactBeforeTurn, runTurn, type TurnOptions, type TurnState } from './turn.js';
import type { TurnContext } from './turn-context.js';
import { endEvent, failed, inUse, type TurnEnd, turnResult } from './turn-end.js';
import { emitWarning, fanOut, startClock } from './turn-events.js';
import { addPrompt, keepPrompt, startSession } from './turn-opening.js';
import { createTurnContext, type ThreadRules } from './turn-setup.js';
import { tellTurn } from './turn-telemetry.js';
import { createUndoRecorder, type UndoRecorder } from './undo/index.js';

/** How long closing waits for `notify` programs. */
const NOTIFY_WAIT_MS = 1000;

/** How long closing waits for the end of the running turn, which was told to stop. */
const TURN_END_MS = 1000;

/** How long a turn waits for another process that runs the same thread. */
const LOCK_WAIT_MS = 5000;

const INTERRUPTED = `<turn_aborted>
The turn before this was interrupted before it was finished. Commands and patches of it may have run in full, in part or not at all: look at the state of the workspace before you build on it.
</turn_aborted>`;

export type AgentThreadOptions = {
  readonly id: string;
  readonly config: Config;
  readonly source: string;
  readonly deps: AgentDeps;
  /** Its MCP servers; null when it has none. */
  readonly servers: ThreadServers | null;
  /** As read from its rollout; absent for a new thread. */
  readonly restored?: StoredRecord;
  /** The thread that a new one begins as a copy of. */
  readonly forked?: StoredRecord;
};

export class AgentThread implements Thread {
  readonly id: string;
  readonly #deps: AgentDeps;
  readonly #config: Config;
  readonly #turns = new Serial();
  readonly #sessions = new ExecSessions();
  readonly #grants: Grants;
  readonly #record: ThreadRecord;
  readonly #rules: ThreadRules;
  readonly #skills: ThreadSkills;
  readonly #hooks: ThreadHooks;
  readonly #notifier: Notifier;
  readonly #undo: UndoRecorder | null;
  readonly #mcp: ThreadMcp;
  readonly #source: string;
  /** What SessionStart hooks are told; null once they have run. */
  #sessionStart: 'startup' | 'resume' | null;
  readonly #state: TurnState;
  readonly #profile: ThreadProfile;
  readonly #context: ThreadContext;
  /** The turn before ended without an end of its own: its process died. */
  #interrupted = false;
  #announced = false;
  /** Fires when the thread is closed. */
  readonly #closing = new AbortController();
  /** The history is on disk alone, to be read again before the next turn. */
  #resting = false;
  /** Told in the next turn. */
  readonly #warnings: string[] = [];
  #warned = false;

  constructor(options: AgentThreadOptions) {
    this.id = options.id;
    this.#deps = placed(options.deps, { thread: options.id });
    this.#config = options.config;
    this.#source = options.source;
    this.#sessionStart = options.restored ? 'resume' : 'startup';
    this.#grants = createGrants();
    this.#rules = new LoadedThreadRules(options.config.rules_dirs, text => this.#warnings.push(text));
    const model = options.deps.modelInfo(options.config);
    this.#profile = createThreadProfile(options.config, model, storedHarness(options.restored ?? options.forked));
    const { profile } = this.#profile;
    this.#record = new ThreadRecord({ ...options, profile, version: options.deps.version });
    this.#state = {
      config: options.config,
      model,
      provider: options.deps.createProvider(options.config.provider),
      history: [],
      usage: { total: NO_USAGE, last: null },
      window: 0,
    };
    this.#skills = new ThreadSkills({
      config: options.config,
      model,
      userHome: options.deps.env['HOME'] ?? null,
      warn: text => this.#warnings.push(text),
    });
    this.#context = new ThreadContext({ ...options, skills: this.#skills, record: sent => this.#record.context(sent) });
    this.#hooks = createHooks({
      ...options,
      transcriptPath: () => this.#record.path,
      warn: text => this.#warnings.push(text),
    });
    this.#notifier = createNotifier(options);
    this.#undo = createUndoRecorder(options, note => this.#record.note(note));
    this.#mcp = new ThreadMcp(options.servers);
    if (options.restored) this.#restore(options.restored);
    if (options.forked) this.#takeOver(options.forked, this.#record.copy(options.forked, this.#grants));
  }

  get settings(): ThreadSettings {
    const { config, model } = this.#state;
    return {
      model: config.model,
      model_provider: config.provider.id,
      cwd: config.cwd,
      approval_policy: config.approval_policy,
      sandbox_policy: config.sandbox_policy,
      reasoning_effort: config.model_reasoning_effort ?? model.default_reasoning_effort,
      rollout_path: this.#record.path,
    };
  }

  run(options: RunOptions): Promise<TurnResult> {
    return this.#turns.run(() => this.#locked(options));
  }

  /** Interrupts the running turn and those that wait, ends the commands that still run and closes the record. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sessions.close();
    if (this.#announced) this.#deps.tracer.count('codex.threads.active', -1);
    await within(
      this.#turns.run(() => Promise.resolve()),
      TURN_END_MS,
    );
    await Promise.all([this.#sessionEnd(), this.#notifier.settle(NOTIFY_WAIT_MS)]);
    this.#record.close();
  }

  /** Lets go of the history until the next turn, where it is on disk and nothing is going on. Returns whether it did. */
  rest(): boolean {
    if (this.#resting) return true;
    if (this.#turns.size > 0 || this.#sessions.running().length > 0 || !this.#record.isSaved()) return false;
    this.#state.history = [];
    this.#resting = true;
    return true;
  }

  async #sessionEnd(): Promise<void> {
    if (this.#sessionStart !== null || this.#hooks.handlers('SessionEnd').length === 0) return;
    this.#sessionStart = 'resume';
    const span = this.#deps.tracer.span('session_end', { 'gen_ai.conversation.id': this.id });
    await this.#hooks.sessionEnd(span, this.#deps.warn);
    span.end();
  }

  async #locked(options: RunOptions): Promise<TurnResult> {
    const turnId = newId();
    const stop = linkedController(options.signal, this.#closing.signal);
    let lock: LockResult | null = null;
    try {
      if (!stop.signal.aborted) lock = await this.#lock(stop.signal);
      if (stop.signal.aborted) return this.#result(turnId, { type: 'aborted' }, { aborted_by: 'signal' });
      if (lock?.type === 'busy') return this.#result(turnId, inUse(this.id, lock.held_by));
      const problem = await this.#catchUp();
      if (problem) return this.#result(turnId, problem);
      return await this.#turn(turnId, options, stop);
    } finally {
      stop.unlink();
      if (lock?.type === 'locked') lock.lock.release();
    }
  }

  async #lock(signal: AbortSignal): Promise<LockResult | null> {
    if (!this.#config.persist) return null;
    return acquireThreadLock(this.#config.home, this.id, {
      waitMs: LOCK_WAIT_MS,
      signal,
      warn: text => this.#warnings.push(text),
    });
  }

  /** Another process may have gone on with the thread since our last turn. */
  async #catchUp(): Promise<TurnEnd | null> {
    if (this.#record.state() === 'current' && !this.#resting) return null;
    try {
      this.#restore(await readThread(this.#config.home, this.id));
      this.#resting = false;
      return null;
    } catch (error) {
      return failed({ message: messageOf(error), kind: 'other' });
    }
  }

  #restore(record: StoredRecord): void {
    this.#takeOver(record, this.#record.restore(record, this.#grants));
  }

  #takeOver(record: StoredRecord, sent: SentContext | null): void {
    const state = this.#state;
    state.history = [...record.history];
    // A last answer of no tokens stands for one that was not counted.
    const { total, last } = record.usage ?? { total: NO_USAGE, last: NO_USAGE };
    state.usage = { total, last: last.total_tokens > 0 ? last : null };
    state.window = record.window;
    this.#context.restore(sent);
    this.#interrupted = record.last_turn?.end === 'interrupted';
  }

  async #turn(turnId: string, options: RunOptions, stop: LinkedController): Promise<TurnResult> {
    const clock = startClock();
    let decided = false;
    const { signal } = stop;
    const { tracer } = this.#deps;
    const { provider, model } = this.#state;
    const source = this.#source;
    const told = tellTurn({ tracer, threadId: this.id, turnId, source, provider, model, trace: options.trace });
    const { span } = told;
    const emit = fanOut(clock, [this.#record.sink(), told.sink, options.onEvent]);
    this.#announce(emit);
    this.#record.beginTurn(turnId);
    emit({
      type: 'turn.started',
      turn_id: turnId,
      started_at_ms: clock.startedAtMs,
      model_context_window: this.#window(),
    });
    this.#sessions.beginTurn(turnId, emit);
    const { history } = this.#state;
    const warn = (text: string) => emitWarning(emit, text);
    const leaveServers = this.#mcp.beginTurn({ emit, warn, history });
    const hooks = this.#hooks.forTurn({ turnId, emit, signal, span });
    const undo = this.#undo?.forTurn({ turnId, number: this.#record.turn, signal, warn }) ?? null;
    const turn = createTurnContext({
      ...options,
      threadId: this.id,
      turnId,
      deps: placed(this.#deps, { thread: this.id, turn: turnId }),
      config: this.#config,
      model: this.#state.model,
      tools: this.#profile.tools(),
      serverTools: this.#mcp.tools,
      sessions: this.#sessions,
      grants: this.#grants,
      rules: this.#rules,
      hooks,
      undo,
      onGrant: keys => this.#record.grant(keys),
      span,
      emit,
      signal,
      abort: () => {
        decided = true;
        stop.abort();
      },
    });
    const running = this.#runTurn(turn, options, hooks).catch((error: unknown) => this.#fault(error, turn, stop));
    const end = await running.finally(leaveServers);
    if (end.type === 'aborted') await this.#afterInterrupt(turn, clock.prompted ? null : options.input);
    await undo?.end();
    // The caller may look at the workspace as soon as it has the answer: nothing of ours is to stand there.
    await this.#deps.sandbox.settled();
    this.#record.timing(turnId, told.timing());
    this.#warn(emit);
    emit(endEvent(end, turnId, clock));
    if (end.type === 'completed') this.#notify(turnId, options, end.lastMessage);
    this.#sessions.endTurn();
    this.#record.endTurn();
    return this.#result(turnId, end, {
      aborted_by: end.type !== 'aborted' ? null : decided ? 'decision' : 'signal',
      changes: await turn.diff.changes(),
      said: clock.lastMessage,
    });
  }

  /** A fault of ours ends the turn and not the thread: the caller gets an answer, the log has the stack. */
  async #fault(error: unknown, turn: TurnContext, stop: LinkedController): Promise<TurnEnd> {
    this.#deps.warn(`turn ${turn.turnId}: ${stackOf(error)}`);
    stop.abort();
    await this.#sessions.interruptTurn(turn.turnId);
    this.#state.history = repairHistory(this.#state.history);
    return failed({ message: `Internal error: ${messageOf(error)}`, kind: 'other' });
  }

  #announce(emit: EventSink): void {
    if (!this.#announced) emit({ type: 'thread.started', thread_id: this.id, settings: this.settings });
    this.#announced = true;
  }

  /** Tells what was not told yet. */
  #warn(emit: EventSink): void {
    const warnings = this.#warned ? [] : [...this.#config.warnings, ...this.#modelWarnings()];
    this.#warned = true;
    warnings.push(...this.#warnings.splice(0), ...this.#record.takeWarnings());
    for (const text of warnings) emitWarning(emit, text);
  }

  #modelWarnings(): string[] {
    const { model } = this.#state;
    // Who sets the window knows what is missing.
    if (model.known || this.#config.model_context_window !== null) return [];
    return [
      `No metadata for model ${model.id}: a context window of ${model.context_window} tokens and cautious abilities are assumed. Set model_context_window if that is wrong.`,
    ];
  }

  #window(): number {
    return this.#config.model_context_window ?? this.#state.model.context_window;
  }

  async #runTurn(turn: TurnContext, options: RunOptions, hooks: TurnHooks): Promise<TurnEnd> {
    if (this.#profile.problem) return failed(this.#profile.problem);
    await this.#rules.reload();
    const context = await this.#context.now();
    this.#warn(turn.emit);
    const waiting = turn.span.span('mcp_servers.wait');
    const problem = await this.#mcp.ready(turn.signal);
    waiting.end();
    if (problem) return failed(problem);
    const turnOptions: TurnOptions = {
      state: this.#state,
      turn,
      instructions: this.#config.instructions.base ?? this.#profile.profile.instructions,
      outputSchema: options.output_schema ?? null,
      freshContext: () => this.#context.fresh(),
      beforeStop: lastMessage => hooks.stop(lastMessage),
      beforeCompaction: () => hooks.preCompact(),
      checkAnswer: this.#answerCheck(turn, options),
    };
    if (this.#state.history.length > 0) {
      const end = await compactBeforeTurn(turnOptions);
      if (end) return end;
    }
    if (this.#interrupted) addToHistory(this.#state, turn, [message('user', [INTERRUPTED])]);
    this.#interrupted = false;
    this.#context.tell(context, items => addToHistory(this.#state, turn, items));
    const opening = { state: this.#state, turn, hooks };
    const source = this.#sessionStart;
    this.#sessionStart = null;
    const end =
      (source && (await startSession(opening, source))) ?? (await addPrompt(opening, options.input, this.#skills));
    this.#warn(turn.emit);
    return end ?? runTurn(turnOptions);
  }

  #notify(turnId: string, options: RunOptions, lastMessage: string | null): void {
    this.#notifier.turnCompleted({
      threadId: this.id,
      turnId,
      cwd: this.#config.cwd,
      client: `open_interpreter_${this.#source}`,
      inputMessages: options.input.flatMap(part => (part.type === 'text' ? [part.text] : [])),
      lastMessage,
    });
  }

  #answerCheck(turn: TurnContext, { output_schema: schema }: RunOptions): AnswerCheck {
    if (!schema) return () => Promise.resolve(null);
    return createAnswerCheck(schema, text => emitWarning(turn.emit, text));
  }

  /** `prompt`: the one that was not added yet. It is kept too, unless there are hooks that were not asked about it. */
  async #afterInterrupt(turn: TurnContext, prompt: RunOptions['input'] | null): Promise<void> {
    await this.#sessions.interruptTurn(turn.turnId);
    if (prompt && this.#hooks.handlers('UserPromptSubmit').length === 0) {
      await keepPrompt({ state: this.#state, turn }, prompt);
    }
    addToHistory(this.#state, turn, [message('user', [INTERRUPTED])]);
  }

  #result(turnId: string, end: TurnEnd, more: Partial<TurnResult> & { readonly said?: string } = {}): TurnResult {
    const usage = this.#state.usage.total;
    return turnResult(end, { threadId: this.id, turnId }, { usage, changes: {}, aborted_by: null, said: '', ...more });
  }
}
