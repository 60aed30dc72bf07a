/** What is told about a turn: its span, and the events and numbers that follow from what happens in it. */
import {
  addUsage,
  type Event,
  type EventSink,
  type Item,
  type ModelInfo,
  NO_USAGE,
  type Provider,
  type ThreadSettings,
  type TokenUsage,
  type TurnTimes,
} from '../protocol/index.js';
import type { Span, TraceContext, Tracer } from '../util/index.js';
import { providerName, tokenCounts, usageAttributes } from './model-request-watch.js';
import { isFirstToken } from './turn-events.js';
import { TurnTiming } from './turn-timing.js';

type TurnFacts = {
  readonly tracer: Tracer;
  readonly threadId: string;
  readonly turnId: string;
  /** `mcp`, `exec`, … */
  readonly source: string;
  readonly provider: Provider;
  readonly model: ModelInfo;
  /** The caller's. */
  readonly trace: TraceContext | undefined;
};

export type ToldTurn = {
  /** Of the turn; what is made below it is timed. */
  readonly span: Span;
  /** For the events of the turn. Ends the span with the turn. */
  readonly sink: EventSink;
  /** Where the time went so far. */
  readonly timing: () => ReturnType<TurnTiming['result']>;
};

export function tellTurn(facts: TurnFacts): ToldTurn {
  const root = turnSpan(facts);
  const timing = new TurnTiming();
  const told = new TurnTelemetry(root, facts);
  return { span: timing.watch(root), sink: event => told.take(event), timing: () => timing.result() };
}

function turnSpan({ tracer, threadId, turnId, source, provider, model, trace }: TurnFacts): Span {
  return tracer.span(
    'invoke_agent open-interpreter',
    {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'open-interpreter',
      'gen_ai.conversation.id': threadId,
      'gen_ai.provider.name': providerName(provider.settings.id),
      'gen_ai.request.model': model.id,
      'codex.turn.id': turnId,
      'codex.source': source,
    },
    trace,
    {
      scope: {
        'conversation.id': threadId,
        'turn.id': turnId,
        model: model.id,
        provider_name: providerName(provider.settings.id),
      },
    },
  );
}

class TurnTelemetry {
  readonly #span: Span;
  readonly #facts: TurnFacts;
  #usage: TokenUsage | null = null;
  /** Until the first sign of an answer. */
  #waitingSinceMs: number | null = null;

  constructor(span: Span, facts: TurnFacts) {
    this.#span = span;
    this.#facts = facts;
  }

  take(event: Event): void {
    this.#firstToken(event.type);
    switch (event.type) {
      case 'thread.started':
        return this.#started(event.settings);
      case 'turn.started':
        this.#waitingSinceMs = event.started_at_ms;
        return this.#facts.tracer.count('codex.turns.active', 1);
      case 'item.completed':
        return this.#item(event.item);
      case 'usage.updated':
        if (event.last) this.#usage = addUsage(this.#usage ?? NO_USAGE, event.last);
        return;
      case 'context.compacted':
        return this.#span.event('codex.compaction', { message_length: event.message.length });
      case 'mcp_server.updated':
        return this.#span.event('codex.startup_phase', { phase: 'mcp_server', status: event.state });
      case 'turn.completed':
        return this.#end('completed', event);
      case 'turn.failed':
        this.#span.fail(event.error.kind);
        return this.#end('failed', event);
      case 'turn.aborted':
        return this.#end('aborted', event);
      case 'mcp_servers.ready':
      case 'history.added':
      case 'item.started':
      case 'item.updated':
      case 'text.delta':
      case 'reasoning.delta':
      case 'reasoning.section':
      case 'reasoning.raw_delta':
      case 'command.output':
      case 'command.input':
      case 'approval.requested':
      case 'approval.decided':
      case 'response.completed':
      case 'diff.updated':
      case 'hook.started':
      case 'retry':
        return;
    }
  }

  #firstToken(type: Event['type']): void {
    if (this.#waitingSinceMs === null || !isFirstToken(type)) return;
    this.#span.event('codex.turn_ttft', { duration_ms: Date.now() - this.#waitingSinceMs });
    this.#waitingSinceMs = null;
  }

  #started({ approval_policy: approvals, sandbox_policy, reasoning_effort }: ThreadSettings): void {
    const { tracer, model, source } = this.#facts;
    tracer.count('codex.threads.active', 1);
    this.#span.event('codex.conversation_starts', {
      approval_policy: typeof approvals === 'string' ? approvals : 'granular',
      sandbox_policy: sandbox_policy.type,
      reasoning_effort: reasoning_effort ?? undefined,
      context_window: model.context_window,
      source,
    });
  }

  #item(item: Item): void {
    if (item.type !== 'user_message') return;
    const texts = item.content.flatMap(part => (part.type === 'text' ? [part.text] : []));
    const prompt = texts.join('\n');
    this.#span.event('codex.user_prompt', {
      prompt_length: prompt.length,
      text_input_count: texts.length,
      local_image_input_count: item.content.length - texts.length,
      // Leaves the process only where `log_user_prompt` allows it; the tracer sees to that.
      prompt,
    });
  }

  #end(status: string, event: TurnTimes): void {
    this.#facts.tracer.count('codex.turns.active', -1);
    this.#span.setAttributes({ 'codex.turn.status': status, ...usageAttributes(this.#usage) });
    this.#span.event('codex.turn_end', {
      status,
      duration_ms: event.completed_at_ms - event.started_at_ms,
      ...tokenCounts(this.#usage),
    });
    this.#span.end();
  }
}
