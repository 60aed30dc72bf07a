/** What is told about one model request: a span with its model, tokens and end, and an event for each attempt. */
import type { ModelError, ModelEvent, ModelInfo, ProviderSettings, TokenUsage } from '../protocol/index.js';
import type { Attributes, Span } from '../util/index.js';

export type WatchedRequest = {
  /** Of the turn; the request's span goes below it. */
  readonly span: Span;
  readonly provider: ProviderSettings;
  readonly model: ModelInfo;
  readonly purpose: 'answer' | 'compaction';
};

/** Names of the GenAI conventions for services whose id here is another. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

export class ModelRequestWatch {
  /** Its context goes with the request. */
  readonly span: Span;
  readonly #startedAt = performance.now();
  #attemptAt = this.#startedAt;
  #attempt = 1;
  #calls = 0;
  #open = true;

  constructor({ span, provider, model, purpose }: WatchedRequest) {
    const { hostname, port, protocol } = new URL(provider.base_url);
    this.span = span.span(
      `chat ${model.id}`,
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': providerName(provider.id),
        'gen_ai.request.model': model.id,
        'server.address': hostname,
        'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
        'codex.request.purpose': purpose,
      },
      { kind: 'client' },
    );
  }

  note(event: ModelEvent): void {
    switch (event.type) {
      case 'started':
        return this.#attempted({ 'http.response.status_code': 200 });
      case 'retry':
        this.#attempted(errorAttributes(event.error));
        this.#attempt++;
        this.#attemptAt = performance.now() + event.delay_ms;
        return;
      case 'item.completed':
        if (event.item.type === 'function_call' || event.item.type === 'custom_tool_call') this.#calls++;
        return;
      case 'completed':
        return this.#completed(event.usage, event.response_id, event.truncated);
      case 'failed':
        return this.#failed(event.error);
      case 'item.started':
      case 'text.delta':
      case 'reasoning.delta':
      case 'reasoning.section':
      case 'reasoning.raw_delta':
        return;
    }
  }

  /** Whatever happened, the request is over. */
  end(aborted: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    if (aborted) this.span.fail('aborted');
    this.span.end();
  }

  #attempted(attributes: Attributes): void {
    const duration_ms = Math.max(0, Math.round(performance.now() - this.#attemptAt));
    this.span.event('codex.api_request', { attempt: this.#attempt, duration_ms, ...attributes });
  }

  #completed(usage: TokenUsage | null, responseId: string, truncated: boolean): void {
    const finish = truncated ? 'length' : this.#calls > 0 ? 'tool_calls' : 'stop';
    this.span.setAttributes({
      'gen_ai.response.id': responseId,
      'gen_ai.response.finish_reasons': [finish],
      ...usageAttributes(usage),
    });
    this.span.event('codex.sse_event', {
      'event.kind': 'response.completed',
      duration_ms: this.#elapsed(),
      ...tokenCounts(usage),
    });
    this.end(false);
  }

  #failed(error: ModelError): void {
    const attributes = errorAttributes(error);
    this.span.setAttributes(attributes);
    this.span.event('codex.sse_event', {
      'event.kind': 'response.failed',
      duration_ms: this.#elapsed(),
      ...attributes,
    });
    this.span.fail(error.kind);
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

/** Tokens in the words of the GenAI conventions. */
export function usageAttributes(usage: TokenUsage | null): Attributes {
  if (usage === null) return {};
  return {
    'gen_ai.usage.input_tokens': usage.input_tokens,
    'gen_ai.usage.output_tokens': usage.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cached_input_tokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cache_write_input_tokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning_output_tokens,
  };
}

/** Tokens in the words of the reference's events. */
export function tokenCounts(usage: TokenUsage | null): Attributes {
  return {
    input_token_count: usage?.input_tokens,
    output_token_count: usage?.output_tokens,
    cached_token_count: usage?.cached_input_tokens,
    cache_write_token_count: usage?.cache_write_input_tokens,
    reasoning_token_count: usage?.reasoning_output_tokens,
    total_token_count: usage?.total_tokens,
  };
}

export function providerName(id: string): string {
  return PROVIDER_NAMES[id] ?? id;
}

/** The provider's own text stays here: it may quote the prompt. */
function errorAttributes(error: ModelError): Attributes {
  return { 'error.type': error.kind, 'http.response.status_code': error.http_status };
}
