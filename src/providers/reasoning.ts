/** Reasoning effort, from what was asked for to what a model may be sent. */
import type { ModelRequest } from '../protocol/index.js';

const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'];

/**
 * The effort to send, or null. Of a known model: the value asked for (or its default), else the nearest one it takes.
 * Of an unknown one: what was asked for, as it is.
 */
export function sentEffort(request: ModelRequest): string | null {
  const { model } = request;
  if (!model.known) return request.reasoning.effort;
  const asked = request.reasoning.effort ?? model.default_reasoning_effort;
  if (asked === null || model.reasoning_efforts.length === 0) return null;
  return nearestEffort(asked, model.reasoning_efforts);
}

/** `asked` when it is offered; else the next lower one, else the next higher. An unheard-of value stays as it is. */
function nearestEffort(asked: string, offered: readonly string[]): string {
  if (offered.includes(asked)) return asked;
  const at = ORDER.indexOf(asked);
  if (at < 0) return asked;
  const ranked = offered.filter(effort => ORDER.includes(effort));
  const lower = ranked.filter(effort => ORDER.indexOf(effort) < at && effort !== 'none').at(-1);
  return lower ?? ranked.find(effort => ORDER.indexOf(effort) > at) ?? asked;
}
