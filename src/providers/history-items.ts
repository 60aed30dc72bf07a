/** What all wires do to the history before they encode it. */
import type {
  ContentPart,
  CustomToolCallItem,
  FunctionCallItem,
  HistoryItem,
  MessageItem,
  ModelInfo,
  ToolCallItem,
  ToolCallOutputItem,
  ToolOutput,
  ToolSpec,
} from '../protocol/index.js';
import { isObject } from '../util/index.js';
import { parseJson } from './json.js';

/** What stands for a result that is missing, and for one that is empty: services refuse both. */
export const NO_RESULT = 'aborted: this call has no result';
export const NO_OUTPUT = '(no output)';
/** The prompt behind a history that ends with the model: many services refuse to continue a text of their own. */
export const GO_ON = 'Go on.';

/** Texts of the developer that stand before everything else belong to the system prompt. */
export function splitGuidance(input: readonly HistoryItem[]): { guidance: MessageItem[]; rest: HistoryItem[] } {
  const leading = input.findIndex(item => !isGuidance(item));
  const start = leading < 0 ? input.length : leading;
  return { guidance: input.slice(0, start).filter(isGuidance), rest: input.slice(start) };
}

function isGuidance(item: HistoryItem): item is MessageItem {
  return item.type === 'message' && (item.role === 'developer' || item.role === 'system');
}

/** The outputs of the history by call id, in order: wires place each behind its call. */
export function outputsByCall(items: readonly HistoryItem[]): Map<string, ToolCallOutputItem[]> {
  const outputs = new Map<string, ToolCallOutputItem[]>();
  for (const item of items) {
    if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') continue;
    outputs.set(item.call_id, [...(outputs.get(item.call_id) ?? []), item]);
  }
  return outputs;
}

/** Stands where a picture was when the model takes none. */
const NO_IMAGE = '[an image was left out: this model takes text only]';

/** The parts as the model may see them. */
export function visibleParts(parts: readonly ContentPart[], model: ModelInfo): ContentPart[] {
  if (model.images) return [...parts];
  return parts.map(part => (part.type === 'input_image' ? { type: 'input_text', text: NO_IMAGE } : part));
}

export function visibleOutput(output: ToolOutput, model: ModelInfo): ToolOutput {
  return typeof output === 'string' ? output : visibleParts(output, model);
}

/** Names of the tools that are freeform for the agent. */
export function customToolNames(tools: readonly ToolSpec[]): ReadonlySet<string> {
  return new Set(tools.filter(tool => tool.type === 'custom').map(tool => tool.name));
}

/** The arguments of a freeform tool where it is offered as a function. */
export const CUSTOM_TOOL_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
} as const;

/** The description of a freeform tool as a function: its grammar has no field of its own there. */
export function customToolDescription(tool: ToolSpec & { type: 'custom' }): string {
  return `${tool.description}\n\nThe argument \`input\` must match this ${tool.grammar.syntax} grammar:\n${tool.grammar.definition}`;
}

/** A call as the agent sees it: a freeform tool's call is a `custom_tool_call` whatever the wire made of it. */
export function toolCallItem(call: FunctionCallItem, customTools: ReadonlySet<string>): ToolCallItem {
  if (!customTools.has(call.name)) return call;
  const { type: _type, arguments: text, namespace: _namespace, ...rest } = call;
  return { ...rest, type: 'custom_tool_call', input: customInput(text) };
}

/** A freeform call as the function call that wires without such tools know. */
export function asFunctionCall(call: CustomToolCallItem): FunctionCallItem {
  const { input, type: _type, id: _id, ...rest } = call;
  return { ...rest, type: 'function_call', arguments: JSON.stringify({ input }) };
}

/** The `input` of the arguments; else the only text in them; else the text itself, which the tool then refuses or takes. */
function customInput(text: string): string {
  const parsed = parseJson(text);
  if (typeof parsed === 'string') return parsed;
  if (!isObject(parsed)) return text;
  if (typeof parsed.input === 'string') return parsed.input;
  const [only, ...others] = Object.values(parsed);
  return typeof only === 'string' && others.length === 0 ? only : text;
}

/** True for JSON text of an object: what the arguments of a call must be. */
export function isJsonObject(text: string): boolean {
  return isObject(parseJson(text));
}

/** `namespace` and `name` of older threads as the flat name that is offered now. */
export function flatName(call: FunctionCallItem): string {
  return call.namespace === undefined ? call.name : `${call.namespace}__${call.name}`;
}

/** The call ids of the history: new ones must differ from them. */
export function callIds(input: readonly HistoryItem[]): Set<string> {
  const ids = new Set<string>();
  for (const item of input)
    if (item.type === 'function_call' || item.type === 'custom_tool_call') ids.add(item.call_id);
  return ids;
}
