/** Questions of servers to the person behind our caller. */
import type { ApprovalDecision } from '../protocol/index.js';

export type PersonQuestion = {
  readonly message: string;
  /** A flat JSON Schema object; null where nothing is to be filled in. */
  readonly requested_schema: unknown;
};

/** Resolves in bounded time; a no where nobody can be asked. */
export type AskPerson = (question: PersonQuestion) => Promise<ApprovalDecision>;

/** The params of `elicitation/create`, both modes. */
export type ElicitParams = {
  readonly message: string;
  readonly mode?: string | undefined;
  readonly requestedSchema?: unknown;
  readonly url?: string | undefined;
};

type ElicitValue = string | number | boolean | string[];
export type ElicitAnswer = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, ElicitValue>;
};

/** `ask` null: no call of ours is under way, so it is nobody's question. */
export async function answerElicitation(params: ElicitParams, ask: AskPerson | null): Promise<ElicitAnswer> {
  if (ask === null) return { action: 'cancel' };
  const isUrl = params.mode === 'url';
  const decision = await ask({
    message: isUrl ? `${params.message}\n\nOpen this address to go on: ${params.url ?? ''}` : params.message,
    requested_schema: isUrl ? null : (params.requestedSchema ?? null),
  });
  switch (decision.type) {
    case 'approved':
      return isUrl ? { action: 'accept' } : { action: 'accept', content: contentOf(decision.content) };
    case 'approved_for_thread':
    case 'approved_with_rule':
      // Answers to approvals, not to a form.
      return { action: 'cancel' };
    case 'denied':
      return { action: decision.by === 'person' ? 'decline' : 'cancel' };
    case 'abort':
      return { action: 'cancel' };
  }
}

/** What a form may hold; anything else was not filled in by a form. */
function contentOf(content: unknown): Record<string, ElicitValue> {
  if (typeof content !== 'object' || content === null) return {};
  return Object.fromEntries(
    Object.entries(content).filter((entry): entry is [string, ElicitValue] => {
      const value: unknown = entry[1];
      const isTexts = Array.isArray(value) && value.every(item => typeof item === 'string');
      return ['string', 'number', 'boolean'].includes(typeof value) || isTexts;
    }),
  );
}
