/** The two tools as `tools/list` shows them. Names, properties and enums are those callers already know. */
import type { JsonObject } from './message.js';

export const APPROVAL_POLICIES = ['untrusted', 'on-request', 'never'] as const;
export const CODEX = 'codex';
export const CODEX_REPLY = 'codex-reply';

const CODEX_DESCRIPTION = `Runs a coding agent on a task and returns its final answer.

The agent works on this machine, in the directory \`cwd\`: it reads and searches files itself, runs shell commands, edits files with patches and tests what it did. Do not paste files into \`prompt\`; name them. Say what should be reached and how to tell that it is done. A call lasts until the agent is finished, often minutes.

\`sandbox\` limits what its commands and patches may touch: "read-only" (look, change nothing), "workspace-write" (change files in \`cwd\` and temporary folders, no network) or "danger-full-access" (no limits). \`approval-policy\` says when a person is asked first: "untrusted" (before every command that is not known to be harmless), "on-request" (when the agent wants to leave the sandbox) or "never" (no questions; what the sandbox forbids fails). Questions come as elicitation requests of MCP; a client that can't show them counts as a no.

Every call starts a new thread with an empty memory. The result carries \`threadId\`; pass it to \`codex-reply\` to go on with the same thread instead of starting over.`;

const REPLY_DESCRIPTION = `Continues a thread that \`codex\` started: sends it the next prompt and returns the agent's answer.

The thread remembers what was said and done, and keeps its directory, model, sandbox and approval policy. It can be continued at any time, also after this server was restarted. If the thread is still busy, the reply waits for its turn.`;

const codexInput = {
  type: 'object',
  properties: {
    prompt: { type: 'string', description: 'The task for the agent, in plain words.' },
    model: { type: 'string', description: 'Model to use, by the name its provider knows. Default: as configured.' },
    cwd: {
      type: 'string',
      description:
        'Working directory of the agent. It must exist. A relative path starts at the directory of this server, which is also the default.',
    },
    'approval-policy': {
      type: 'string',
      enum: [...APPROVAL_POLICIES],
      description: 'When a person is asked before something runs: `untrusted`, `on-request` or `never`.',
    },
    sandbox: {
      type: 'string',
      enum: ['read-only', 'workspace-write', 'danger-full-access'],
      description:
        'What commands and patches may touch: `read-only`, `workspace-write` (the directory and temporary folders) or `danger-full-access`.',
    },
    config: {
      type: 'object',
      additionalProperties: true,
      description: 'Settings for this thread, as in config.toml; keys may be dotted. They win over the files.',
    },
    'base-instructions': {
      type: 'string',
      description: 'Replaces the built-in instructions of the agent.',
    },
    'developer-instructions': {
      type: 'string',
      description: 'Further instructions, given to the agent beside the built-in ones.',
    },
    'compact-prompt': {
      type: 'string',
      description: 'What the agent is told when a long thread has to be summarised.',
    },
  },
  required: ['prompt'],
  additionalProperties: false,
};

const replyInput = {
  type: 'object',
  properties: {
    prompt: { type: 'string', description: 'What the agent is told next.' },
    threadId: { type: 'string', description: 'The thread to continue: `threadId` of an earlier result.' },
    conversationId: { type: 'string', description: 'Older name of `threadId`; still accepted.' },
  },
  required: ['prompt'],
  additionalProperties: false,
};

const output = {
  type: 'object',
  properties: {
    threadId: { type: 'string', description: 'The thread; pass it to `codex-reply`.' },
    content: { type: 'string', description: 'The final answer of the agent, or what went wrong.' },
    status: {
      type: 'string',
      enum: ['completed', 'failed', 'aborted'],
      description: 'How the turn ended.',
    },
    usage: {
      type: 'object',
      description: 'Tokens used by the thread so far.',
      properties: {
        input_tokens: { type: 'integer' },
        cached_input_tokens: { type: 'integer' },
        cache_write_input_tokens: { type: 'integer' },
        output_tokens: { type: 'integer' },
        reasoning_output_tokens: { type: 'integer' },
        total_tokens: { type: 'integer' },
      },
    },
    changes: {
      type: 'object',
      description: 'Files that patches of this turn changed, keyed by absolute path.',
      additionalProperties: {
        type: 'object',
        properties: { type: { type: 'string', enum: ['add', 'delete', 'update'] } },
        required: ['type'],
      },
    },
  },
  required: ['threadId', 'content'],
};

/** It changes files and talks to the world, as far as its sandbox lets it. */
const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

export const TOOLS: readonly JsonObject[] = [
  {
    name: CODEX,
    title: 'Open Interpreter',
    description: CODEX_DESCRIPTION,
    inputSchema: codexInput,
    outputSchema: output,
    annotations: { title: 'Open Interpreter', ...annotations },
  },
  {
    name: CODEX_REPLY,
    title: 'Open Interpreter: reply',
    description: REPLY_DESCRIPTION,
    inputSchema: replyInput,
    outputSchema: output,
    annotations: { title: 'Open Interpreter: reply', ...annotations },
  },
];

export const INSTRUCTIONS = `Open Interpreter is a coding agent on this machine. Use the tool \`codex\` to hand it a task in a directory: it reads, edits and runs things there by itself, within the sandbox you choose. Use \`codex-reply\` with the \`threadId\` of an earlier result to follow up. Calls can take minutes; ask for progress notifications to see what it does. Independent tasks can run at the same time, each in a call of its own.`;
