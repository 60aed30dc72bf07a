/** A tool call that a model printed as text because its server did not recognise it. */
import { isObject } from '../../util/index.js';
import { type JsonObject, parseJson, textOf } from '../json.js';

export type PrintedCall = { name: string; arguments: string };

/**
 * The call that `text` consists of, from end to end: `{"name": …, "arguments": …}` or the same in `<tool_call>`, in a
 * code fence or not. null for anything more or less, and for tools that were not offered.
 */
export function printedCall(text: string, tools: ReadonlySet<string>): PrintedCall | null {
  const bare = unfence(text.trim());
  const tagged = /^<tool_call>([\s\S]*)<\/tool_call>$/.exec(bare)?.[1]?.trim();
  if (tagged?.includes('<tool_call>')) return null;
  const body = tagged ?? bare;
  const call = body.startsWith('<function=') ? readTags(body) : readJson(body);
  return call !== null && tools.has(call.name) ? call : null;
}

/** True while `text`, the beginning of a message, can still become a printed call. */
export function mayBePrintedCall(text: string): boolean {
  const start = text.trimStart();
  if (start === '' || '<tool_call>'.startsWith(start) || start.startsWith('<tool_call>')) return true;
  if (start.startsWith('`')) {
    const fenced = /^`{1,3}$|^```[a-z]*\s*$|^```[a-z]*\s+([{<][\s\S]*)$/.exec(start);
    return fenced !== null && (fenced[1] === undefined || mayBePrintedCall(fenced[1]));
  }
  if (!start.startsWith('{')) return false;
  const key = /^\{\s*"(\w*)("?)/.exec(start);
  if (key === null) return /^\{\s*$/.test(start);
  const [, word = '', closed] = key;
  return closed === '"' ? KEYS.includes(word) : KEYS.some(known => known.startsWith(word));
}

const KEYS = ['name', 'arguments', 'parameters', 'type', 'function', 'id', 'tool', 'tool_name'];

function unfence(text: string): string {
  return /^```[a-z]*\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1]?.trim() ?? text;
}

function readJson(text: string): PrintedCall | null {
  const outer = parseJson(text);
  if (!isObject(outer) || !Object.keys(outer).every(key => KEYS.includes(key))) return null;
  const call = isObject(outer.function) ? outer.function : outer;
  const name = textOf(call.name) || textOf(call.tool) || textOf(call.tool_name) || textOf(outer.function);
  const args = argumentsOf(call);
  return name === '' || args === null ? null : { name, arguments: args };
}

function argumentsOf(call: JsonObject): string | null {
  const value = call.arguments ?? call.parameters;
  if (isObject(value)) return JSON.stringify(value);
  return typeof value === 'string' && isObject(parseJson(value)) ? value : null;
}

/** `<function=name><parameter=key>value</parameter></function>`, as Qwen's coders write it; values are texts. */
function readTags(text: string): PrintedCall | null {
  const match = /^<function=([\w-]+)>([\s\S]*)<\/function>$/.exec(text);
  if (match === null) return null;
  const [, name = '', inner = ''] = match;
  const values = [...inner.matchAll(/<parameter=([\w-]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
  const rest = inner.replaceAll(/<parameter=[\w-]+>[\s\S]*?<\/parameter>/g, '').trim();
  if (rest !== '') return null;
  return { name, arguments: JSON.stringify(Object.fromEntries(values.map(([, key, value]) => [key, value]))) };
}
