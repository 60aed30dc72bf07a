/**
 * What servers send is taken as it is meant: one faulty tool must not cost a whole list, one unknown block not a whole
 * result. Everything here changes the message in place, before the SDK checks it against the schema.
 */
import type { JsonSchema } from '../protocol/index.js';
import { isObject } from '../util/index.js';

type JsonObject = { [key: string]: unknown };

/** Blocks the SDK knows, with the members it insists on. */
const CONTENT_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

const INTERNAL_ERROR = -32603;

/** Told once for each list. */
export type RepairListener = (problem: string) => void;

export function repairMessage(message: unknown, tell: RepairListener): void {
  if (!isObject(message)) return;
  message.jsonrpc = '2.0';
  if (isAnswer(message)) repairAnswer(message);
  if (!isObject(message.result)) return;
  const { result } = message;
  if (Array.isArray(result.tools)) result.tools = repairTools(result.tools, tell);
  if ('content' in result || 'structuredContent' in result) repairResult(result);
}

const isAnswer = (message: JsonObject): boolean => message.method === undefined && 'id' in message;

/** What the SDK takes for no answer at all would be waited for until the time is over. */
function repairAnswer(message: JsonObject): void {
  if (isObject(message.result)) return;
  const { error } = message;
  const shown = JSON.stringify(error ?? message.result ?? null).slice(0, 300);
  const problem = error === undefined || error === null ? `the answer holds no result: ${shown}` : shown;
  delete message.result;
  message.error = {
    code: isObject(error) && Number.isSafeInteger(error.code) ? error.code : INTERNAL_ERROR,
    message: isObject(error) && typeof error.message === 'string' ? error.message : problem,
    ...(isObject(error) && 'data' in error ? { data: error.data } : {}),
  };
}

function repairTools(tools: readonly unknown[], tell: RepairListener): JsonObject[] {
  const usable = tools.filter(tool => isObject(tool) && typeof tool.name === 'string' && tool.name !== '');
  if (usable.length < tools.length) tell(`${tools.length - usable.length} of its tools have no name and are left out`);
  return usable.map(tool => repairTool(tool as JsonObject, tell));
}

function repairTool(tool: JsonObject, tell: RepairListener): JsonObject {
  const { annotations } = tool;
  if (!isObjectSchema(tool.inputSchema)) tell(`the input schema of its tool ${String(tool.name)} is no object schema`);
  return {
    name: tool.name,
    ...textMember(tool, 'title'),
    ...textMember(tool, 'description'),
    inputSchema: objectSchema(tool.inputSchema),
    ...(isObject(annotations) ? { annotations: knownAnnotations(annotations) } : {}),
    ...(isObject(tool._meta) ? { _meta: tool._meta } : {}),
  };
}

function isObjectSchema(schema: unknown): boolean {
  return isObject(schema) && (schema.type === 'object' || schema.type === undefined);
}

/** What isn't a schema of an object becomes one that takes anything. */
function objectSchema(schema: unknown): JsonSchema {
  if (!isObjectSchema(schema)) return { type: 'object' };
  const { properties, required, ...rest } = schema as JsonObject;
  return {
    ...rest,
    type: 'object',
    ...(isObject(properties) ? { properties } : {}),
    ...(Array.isArray(required) ? { required: required.filter(name => typeof name === 'string') } : {}),
  };
}

/** Hints are kept where they are true or false; anything else says nothing. */
function knownAnnotations(annotations: JsonObject): JsonObject {
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].flatMap(hint =>
    typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]] as const] : [],
  );
  return { ...Object.fromEntries(hints), ...textMember(annotations, 'title') };
}

function repairResult(result: JsonObject): void {
  const { content } = result;
  const blocks = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  result.content = blocks.map(repairBlock);
  if ('isError' in result && typeof result.isError !== 'boolean') result.isError = Boolean(result.isError);
  const { structuredContent } = result;
  if (structuredContent === undefined || isObject(structuredContent)) return;
  delete result.structuredContent;
  if (structuredContent !== null)
    result.content = [...(result.content as JsonObject[]), repairBlock(structuredContent)];
}

function repairBlock(block: unknown): JsonObject {
  if (typeof block === 'string') return { type: 'text', text: block };
  if (isObject(block) && isKnownBlock(block)) {
    const { annotations: _hints, ...rest } = block;
    return rest;
  }
  return { type: 'text', text: JSON.stringify(block) ?? '' };
}

function isKnownBlock(block: JsonObject): boolean {
  if (block.type === 'resource') {
    const { resource } = block;
    if (!isObject(resource) || typeof resource.uri !== 'string') return false;
    return typeof resource.text === 'string' || isBase64(resource.blob);
  }
  const members = CONTENT_MEMBERS[String(block.type)];
  const complete = members?.every(member => typeof block[member] === 'string') ?? false;
  return complete && (block.type === 'text' || !('data' in block) || isBase64(block.data));
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data);
}

function textMember(object: JsonObject, name: string): JsonObject {
  return typeof object[name] === 'string' ? { [name]: object[name] } : {};
}
