/**
 * The question a person gets: a message that says all there is to know, because many clients show nothing else, and
 * a form with the possible answers. No field of the form is required: accepting it as it is means "once".
 */
import type { ApprovalRequest } from '../protocol/index.js';
import { abridged, changeLines, commandText, visible } from './display.js';
import type { JsonObject, RequestId } from './message.js';

const MAX_COMMAND_LENGTH = 6_000;
const MAX_REASON_LENGTH = 2_000;
const MAX_FILES = 60;

export type Question = {
  readonly message: string;
  /** A flat JSON Schema object, as elicitation allows it. */
  readonly requestedSchema: JsonObject;
};

export function questionFor(request: ApprovalRequest): Question {
  switch (request.type) {
    case 'command':
      return { message: commandMessage(request), requestedSchema: decisionForm(request, request.proposed_rule) };
    case 'patch':
      return { message: patchMessage(request), requestedSchema: decisionForm(request) };
    case 'mcp_tool':
      return { message: toolMessage(request), requestedSchema: decisionForm(request) };
    case 'elicitation': {
      const schema = request.requested_schema;
      const isForm = typeof schema === 'object' && schema !== null && 'properties' in schema;
      return {
        message: visible(`${request.server} asks: ${request.message}`),
        requestedSchema: isForm ? { ...schema } : { type: 'object', properties: {} },
      };
    }
  }
}

/** Members beside the standard ones that clients of the older protocol read. `callId`: the tools/call it belongs to. */
export function codexParams(request: ApprovalRequest, callId: RequestId): JsonObject {
  const common = {
    threadId: request.thread_id,
    codex_elicitation: ELICITATION_NAMES[request.type],
    codex_mcp_tool_call_id: String(callId),
    codex_event_id: request.turn_id,
    codex_call_id: request.call_id,
  };
  const reason = request.reason === null ? {} : { codex_reason: request.reason };
  switch (request.type) {
    case 'command':
      return {
        ...common,
        codex_command: request.command,
        codex_cwd: request.cwd,
        codex_parsed_cmd: request.parsed,
        ...reason,
      };
    case 'patch':
      return {
        ...common,
        ...reason,
        ...(request.grant_root !== undefined && { codex_grant_root: request.grant_root }),
        codex_changes: request.changes,
      };
    case 'mcp_tool':
      return {
        ...common,
        codex_server: request.server,
        codex_tool: request.tool,
        codex_arguments: request.arguments,
        ...reason,
      };
    case 'elicitation':
      return { ...common, codex_server: request.server };
  }
}

/** A few words that name the question, for errors and logs. */
export function questionTitle(request: ApprovalRequest): string {
  return visible(titleOf(request));
}

function titleOf(request: ApprovalRequest): string {
  switch (request.type) {
    case 'command':
      return `run \`${abridged(commandText(request.command), 200)}\``;
    case 'patch':
      return `change ${changeLines(request.changes, request.cwd).slice(0, 5).join(', ')}`;
    case 'mcp_tool':
      return `use the tool ${request.tool} of ${request.server}`;
    case 'elicitation':
      return `${request.server}: ${abridged(request.message, 200)}`;
  }
}

const ELICITATION_NAMES = {
  command: 'exec-approval',
  patch: 'patch-approval',
  mcp_tool: 'mcp-tool-approval',
  elicitation: 'mcp-elicitation',
} as const;

function commandMessage(request: ApprovalRequest & { type: 'command' }): string {
  return lines([
    request.unsandboxed ? 'Run this command outside the sandbox, with full access?' : 'Run this command?',
    '',
    indented(abridged(commandText(request.command), MAX_COMMAND_LENGTH)),
    '',
    `Directory: ${request.cwd}`,
    reasonLine(request.reason),
  ]);
}

function patchMessage(request: ApprovalRequest & { type: 'patch' }): string {
  const files = changeLines(request.changes, request.cwd);
  const shown = files.slice(0, MAX_FILES);
  const more = files.length - shown.length;
  return lines([
    request.unsandboxed ? 'Apply these changes, outside what the sandbox allows?' : 'Apply these changes?',
    '',
    indented(shown.join('\n')),
    more > 0 ? indented(`… and ${more} more files`) : null,
    '',
    `Directory: ${request.cwd}`,
    request.grant_root === undefined ? null : `Asks for write access to: ${request.grant_root}`,
    reasonLine(request.reason),
  ]);
}

function toolMessage(request: ApprovalRequest & { type: 'mcp_tool' }): string {
  return lines([
    `Use the tool ${request.tool} of the MCP server ${request.server}?`,
    '',
    indented(abridged(JSON.stringify(request.arguments, null, 2) ?? '', MAX_COMMAND_LENGTH)),
    '',
    request.description === null ? null : `The tool: ${abridged(request.description, MAX_REASON_LENGTH)}`,
    reasonLine(request.reason),
  ]);
}

function reasonLine(reason: string | null): string | null {
  return reason === null || reason === '' ? null : `Reason: ${abridged(reason, MAX_REASON_LENGTH)}`;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map(line => `  ${line}`)
    .join('\n');
}

function lines(parts: readonly (string | null)[]): string {
  return visible(parts.filter(part => part !== null).join('\n'));
}

function decisionForm({ once_only }: ApprovalRequest, rule?: readonly string[]): JsonObject {
  const choices: [string, string][] = [['approved', 'Approve once']];
  if (!once_only) choices.push(['approved_for_session', 'Approve for the rest of this thread']);
  if (rule) {
    choices.push(['approved_execpolicy_amendment', `Approve and always allow: ${visible(commandText(rule))} …`]);
  }
  choices.push(['denied', 'Deny']);
  return {
    type: 'object',
    properties: {
      decision: {
        type: 'string',
        title: 'Decision',
        description: 'What may happen. Without a choice: approve once.',
        enum: choices.map(([value]) => value),
        enumNames: choices.map(([, name]) => name),
      },
      note: {
        type: 'string',
        title: 'Note',
        description: 'Optional. Passed on to the agent, for example why not or what to do instead.',
      },
    },
  };
}
