/** The hooks of one thread. Without handlers for an event nothing is done and nothing is waited for. */
import type { Config } from '../../config/index.js';
import type { CommandRunner, EventSink, HookEventName, HookSettings, ToolOutput } from '../../protocol/index.js';
import type { Span } from '../../util/index.js';
import { emitWarning } from '../turn-events.js';
import type { HookReply } from './hook-reply.js';
import { matches } from './matcher.js';
import { type HookSurroundings, runHooks } from './run-hooks.js';
import { blockedText, hookToolResponse, hookToolUse, type ToolUse } from './tool-use.js';

export type ThreadHooksOptions = {
  readonly threadId: string;
  readonly config: Pick<
    Config,
    'hooks' | 'features' | 'cwd' | 'project_root' | 'model' | 'approval_policy' | 'allow_login_shell'
  >;
  readonly runner: CommandRunner;
  /** Absolute path of the user's shell. */
  readonly shell: string;
  /** The environment of the handlers, made when it is needed. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Where the rollout is; null when there is none. */
  readonly transcriptPath: () => string | null;
  /** Told about hooks that do not run. */
  readonly warn: (message: string) => void;
};

/** What belongs to one turn. */
export type HookTurn = {
  readonly turnId: string;
  readonly emit: EventSink;
  readonly signal: AbortSignal;
  readonly span: Span;
};

/** `stop`: why the turn must end; `contexts`: texts for the model, in the order of the handlers. */
export type HookVerdict = { readonly stop: string | null; readonly contexts: readonly string[] };

const NOTHING: HookVerdict = { stop: null, contexts: [] };
/** How often Stop hooks may send one turn on. */
const MAX_STOP_ROUNDS = 8;
/** The process is about to end. */
const SESSION_END_MS = 1000;

export class ThreadHooks {
  readonly options: ThreadHooksOptions;
  readonly #byEvent = new Map<HookEventName, HookSettings[]>();

  constructor(options: ThreadHooksOptions) {
    this.options = options;
    const { config } = options;
    if (!config.features.hooks || config.hooks.length === 0) return;
    const untrusted = config.hooks.filter(hook => !hook.trusted);
    if (untrusted.length > 0) options.warn(untrustedText(untrusted, config.project_root));
    for (const hook of config.hooks) {
      if (!hook.trusted) continue;
      const hooks = this.#byEvent.get(hook.event);
      if (hooks) hooks.push(hook);
      else this.#byEvent.set(hook.event, [hook]);
    }
  }

  /** The handlers of an event whose matcher takes one of `names`. */
  handlers(event: HookEventName, names?: readonly string[]): readonly HookSettings[] {
    const hooks = this.#byEvent.get(event) ?? [];
    return names === undefined ? hooks : hooks.filter(hook => matches(hook.matcher, names));
  }

  forTurn(turn: HookTurn): TurnHooks {
    return new TurnHooks(this, turn);
  }

  /** Runs when the thread is closed; a second at most. What the handlers have to say goes to `log`. */
  async sessionEnd(span: Span, log: (message: string) => void): Promise<void> {
    const hooks = this.handlers('SessionEnd');
    if (hooks.length === 0) return;
    const input = { ...this.#base('SessionEnd', null), reason: 'other' };
    const replies = await runHooks(hooks, input, { ...this.#around(), span, mostMs: SESSION_END_MS });
    for (const text of replies.flatMap(reply => reply.warnings)) log(text);
  }

  run(hooks: readonly HookSettings[], event: HookEventName, fields: Fields, turn: HookTurn): Promise<HookReply[]> {
    const { span, signal, emit } = turn;
    for (const { status_message: message } of hooks) {
      if (message !== null) emit({ type: 'hook.started', hook: event, message });
    }
    const turnId = event === 'SessionStart' ? null : turn.turnId;
    return runHooks(hooks, { ...this.#base(event, turnId), ...fields }, { ...this.#around(), span, signal });
  }

  #around(): Omit<HookSurroundings, 'span'> {
    const { runner, shell, env, config } = this.options;
    return { runner, shell: [shell, config.allow_login_shell ? '-lc' : '-c'], cwd: config.cwd, env: env() };
  }

  /** What every handler is told. */
  #base(event: HookEventName, turnId: string | null): Fields {
    const { threadId, config, transcriptPath } = this.options;
    return {
      session_id: threadId,
      ...(turnId === null ? {} : { turn_id: turnId }),
      transcript_path: transcriptPath(),
      cwd: config.cwd,
      hook_event_name: event,
      ...(event === 'SessionEnd'
        ? {}
        : {
            model: config.model,
            permission_mode: config.approval_policy === 'never' ? 'bypassPermissions' : 'default',
          }),
    };
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The hooks in one turn. */
export class TurnHooks {
  readonly #hooks: ThreadHooks;
  readonly #turn: HookTurn;
  #stopRounds = 0;

  constructor(hooks: ThreadHooks, turn: HookTurn) {
    this.#hooks = hooks;
    this.#turn = turn;
  }

  /** Before the first prompt in this process. */
  async sessionStart(source: 'startup' | 'resume'): Promise<HookVerdict> {
    const hooks = this.#hooks.handlers('SessionStart', [source]);
    if (hooks.length === 0) return NOTHING;
    return verdict(await this.#run(hooks, 'SessionStart', { source }));
  }

  async userPromptSubmit(prompt: string): Promise<HookVerdict> {
    const hooks = this.#hooks.handlers('UserPromptSubmit');
    if (hooks.length === 0) return NOTHING;
    return verdict(await this.#run(hooks, 'UserPromptSubmit', { prompt }));
  }

  /** `blocked`: what the model gets instead of running the tool; `contexts`: what it gets beside the output. */
  async preToolUse(use: ToolUse): Promise<{ blocked: string | null; contexts: readonly string[] }> {
    const { hooks, fields } = this.#forTool('PreToolUse', use);
    if (hooks.length === 0) return { blocked: null, contexts: [] };
    const { stop, contexts } = verdict(await this.#run(hooks, 'PreToolUse', fields));
    return { blocked: stop === null ? null : blockedText(use, stop), contexts };
  }

  /** Texts for the model, to go with the output. */
  async postToolUse(use: ToolUse, output: ToolOutput): Promise<readonly string[]> {
    const { hooks, fields } = this.#forTool('PostToolUse', use);
    if (hooks.length === 0) return [];
    const response = { tool_response: hookToolResponse(use, output) };
    const { stop, contexts } = verdict(await this.#run(hooks, 'PostToolUse', { ...fields, ...response }));
    return stop === null ? contexts : [...contexts, `Feedback of a PostToolUse hook: ${stop}`];
  }

  async preCompact(): Promise<void> {
    const hooks = this.#hooks.handlers('PreCompact', ['auto']);
    if (hooks.length > 0) await this.#run(hooks, 'PreCompact', { trigger: 'auto' });
  }

  /** When the model wants to stop: the prompt with which the turn goes on, or null. */
  async stop(lastMessage: string | null): Promise<string | null> {
    const hooks = this.#hooks.handlers('Stop');
    if (hooks.length === 0) return null;
    const fields = { stop_hook_active: this.#stopRounds > 0, last_assistant_message: lastMessage };
    const replies = await this.#run(hooks, 'Stop', fields);
    if (replies.some(reply => reply.stop !== null)) return null;
    const reasons = replies.flatMap(reply => reply.block ?? []);
    if (reasons.length === 0) return null;
    if (++this.#stopRounds > MAX_STOP_ROUNDS) {
      const text = `Stop hooks asked more than ${MAX_STOP_ROUNDS} times to go on; the turn ends all the same.`;
      emitWarning(this.#turn.emit, text);
      return null;
    }
    return `<hook_prompt event="Stop">\n${reasons.join('\n\n')}\n</hook_prompt>`;
  }

  #forTool(event: 'PreToolUse' | 'PostToolUse', use: ToolUse): { hooks: readonly HookSettings[]; fields: Fields } {
    if (this.#hooks.handlers(event).length === 0) return { hooks: [], fields: {} };
    const { name, aliases, input } = hookToolUse(use);
    return {
      hooks: this.#hooks.handlers(event, [name, ...aliases]),
      fields: { tool_name: name, tool_input: input, tool_use_id: use.call_id },
    };
  }

  async #run(hooks: readonly HookSettings[], event: HookEventName, fields: Fields): Promise<HookReply[]> {
    const replies = await this.#hooks.run(hooks, event, fields, this.#turn);
    for (const text of replies.flatMap(reply => reply.warnings)) emitWarning(this.#turn.emit, text);
    return replies;
  }
}

function verdict(replies: readonly HookReply[]): HookVerdict {
  const reasons = replies.flatMap(reply => reply.stop ?? reply.block ?? []);
  return {
    stop: reasons.length === 0 ? null : reasons.join('; '),
    contexts: replies.flatMap(reply => reply.context ?? []),
  };
}

function untrustedText(hooks: readonly HookSettings[], root: string): string {
  const sources = [...new Set(hooks.map(hook => hook.source))].join(', ');
  const what = hooks.map(hook => `${hook.event} \`${hook.command}\``).join(', ');
  return `Hooks of ${sources} do not run because the project is not trusted: ${what}. To run them, read them and add to config.toml in your home: [projects.${JSON.stringify(root)}] trust_level = "trusted"`;
}
