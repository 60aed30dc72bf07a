/** Telling prompts of a person from texts that a program put into the history as user messages. */
import type { HistoryItem } from '../protocol/index.js';

const CONTEXT_BEGINS = [
  '# AGENTS.md instructions',
  '<environment_context>',
  '<user_instructions>',
  '<turn_aborted>',
  '<user_shell_command>',
  '<skill>',
  '<hook_prompt',
  '<subagent_notification>',
];

/** True for a user message that is a prompt. */
export function isPrompt(item: HistoryItem): boolean {
  return item.type === 'message' && item.role === 'user' && promptText(item) !== null;
}

/** Text of a prompt; "" when it has images only; null when the item is none. */
export function promptText(item: HistoryItem): string | null {
  if (item.type !== 'message' || item.role !== 'user') return null;
  const texts = item.content.flatMap(part => (part.type === 'input_text' ? [part.text] : []));
  const first = texts[0]?.trimStart() ?? '';
  return CONTEXT_BEGINS.some(begin => first.startsWith(begin)) ? null : texts.join('\n');
}
