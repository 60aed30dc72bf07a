/** What comes into the history before the model is asked: what hooks say, the prompt, and the skills it mentions. */
import type { Item, UserInput } from '../protocol/index.js';
import { message } from './context.js';
import type { TurnHooks } from './hooks/index.js';
import { newItemId } from './ids.js';
import type { ThreadSkills } from './skills/index.js';
import { addToHistory, type TurnState } from './turn.js';
import type { TurnContext } from './turn-context.js';
import { failed, type TurnEnd } from './turn-end.js';
import { promptContent, promptText } from './user-input.js';

export type TurnOpening = {
  readonly state: TurnState;
  readonly turn: TurnContext;
  readonly hooks: TurnHooks;
};

/** Before the first prompt in this process. A TurnEnd means that hooks let nothing happen. */
export async function startSession(opening: TurnOpening, source: 'startup' | 'resume'): Promise<TurnEnd | null> {
  const { stop, contexts } = await opening.hooks.sessionStart(source);
  addContexts(opening, contexts);
  if (opening.turn.signal.aborted) return { type: 'aborted' };
  return stop === null ? null : failed({ message: `A SessionStart hook ended the turn: ${stop}`, kind: 'other' });
}

/** A TurnEnd means that hooks did not let the prompt through; then it is not in the history. */
export async function addPrompt(
  opening: TurnOpening,
  input: readonly UserInput[],
  skills: ThreadSkills,
): Promise<TurnEnd | null> {
  const { state, turn, hooks } = opening;
  const { stop, contexts } = await hooks.userPromptSubmit(promptText(input));
  if (turn.signal.aborted) return { type: 'aborted' };
  if (stop !== null) {
    return failed({ message: `The prompt was blocked by a UserPromptSubmit hook: ${stop}`, kind: 'other' });
  }
  await keepPrompt(opening, input);
  addContexts(opening, contexts);
  const texts = await skills.mentioned(input);
  addToHistory(
    state,
    turn,
    texts.map(text => message('user', [text])),
  );
  return null;
}

/** Adds the prompt alone. */
export async function keepPrompt(
  { state, turn }: Pick<TurnOpening, 'state' | 'turn'>,
  input: readonly UserInput[],
): Promise<void> {
  const content = await promptContent(input);
  const id = newItemId('msg');
  addToHistory(state, turn, [{ type: 'message', id, role: 'user', content }]);
  const item: Item = { type: 'user_message', id, content: [...input] };
  turn.emit({ type: 'item.started', item, at_ms: Date.now() });
  turn.emit({ type: 'item.completed', item, at_ms: Date.now() });
}

function addContexts({ state, turn }: TurnOpening, contexts: readonly string[]): void {
  if (contexts.length > 0) addToHistory(state, turn, [message('developer', contexts)]);
}
