/**
 * A server on stdio as a transport of the MCP SDK. The process is started by the product's own runner, so that its
 * whole tree ends with us; what it prints is read with patience: lines that are no messages are skipped, and an answer
 * of any size costs bounded memory.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { CommandResult, CommandRunner, CommandSpec, RunningCommand } from '../protocol/index.js';
import { BoundedLines, messageOf, strictJson, within } from '../util/index.js';
import type { McpLog } from './log.js';

/** A message longer than this is dropped, and its request answered with an error. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A line of its log. */
const MAX_LOG_BYTES = 8 * 1024;
/** How long a server may take to leave after the end of its input, and after TERM. */
const LEAVE_MS = 300;

export type CommandTransportOptions = {
  readonly name: string;
  readonly runner: CommandRunner;
  readonly spec: Pick<CommandSpec, 'argv' | 'cwd' | 'env'>;
  readonly log: McpLog;
};

export class CommandTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** By these two names the SDK knows a transport over stdio. */
  readonly stderr = null;
  get pid(): number | null {
    return this.#command?.pid ?? null;
  }

  readonly #options: CommandTransportOptions;
  #starting: Promise<void> | null = null;
  #command: RunningCommand | null = null;
  /** How it ended; null while it runs or has not been started. */
  #end: string | null = null;
  /** The last line of its log. */
  lastWords = '';
  #told = false;
  #closing = false;

  constructor(options: CommandTransportOptions) {
    this.#options = options;
  }

  /** Why the process is gone, with the last line of its log, for messages; null while it runs. */
  get end(): string | null {
    if (this.#end === null) return null;
    return this.lastWords === '' ? this.#end : `${this.#end}; its log ends with: ${this.lastWords}`;
  }

  /** Starts the process; may be called before `start`, which then waits for it. Rejects when it can't be started. */
  spawn(): Promise<void> {
    this.#starting ??= this.#spawn();
    return this.#starting;
  }

  /** Part of the transport's contract: listeners are in place. */
  async start(): Promise<void> {
    await this.spawn();
    if (this.#command === null) throw new Error(`it could not be started: ${this.#end ?? 'no process'}`);
    this.#listen(this.#command);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#command === null || this.#end !== null) throw new Error(`the server is not running: ${this.end ?? ''}`);
    await this.#command.write(`${strictJson(message)}\n`);
  }

  /** End of input, then TERM, then KILL; resolves when the process is gone, after a second at most. Idempotent. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#starting?.catch(() => {
      // Whoever waits for the start is told.
    });
    const command = this.#command;
    if (command === null || this.#end !== null) return;
    command.closeStdin();
    if ((await within(command.ended, LEAVE_MS)) !== undefined) return;
    command.kill('aborted', LEAVE_MS);
    await within(command.ended, 2 * LEAVE_MS);
  }

  async #spawn(): Promise<void> {
    const { runner, spec } = this.#options;
    const started = await runner.start({ ...spec, policy: { type: 'danger-full-access' }, stdin: 'pipe' });
    if ('type' in started) {
      this.#end = started.message;
      throw new Error(started.message);
    }
    this.#command = started;
    if (this.#closing) void this.close();
  }

  #listen(command: RunningCommand): void {
    const messages = new BoundedLines(MAX_MESSAGE_BYTES, {
      onLine: line => this.#take(line),
      onTooLong: (head, tail) => this.#refuse(head, tail),
    });
    const log = new BoundedLines(MAX_LOG_BYTES, {
      onLine: line => this.#note(line),
      onTooLong: head => this.#note(head),
    });
    command.onOutput((chunk, stream) => (stream === 'stdout' ? messages : log).push(chunk));
    void command.ended.then(result => {
      log.end();
      messages.end();
      this.#end = describeEnd(result);
      this.onclose?.();
    });
  }

  #take(line: string): void {
    const value = parsed(line);
    // Arrays: servers of 2025-03-26 may send batches.
    for (const message of Array.isArray(value) ? value : [value]) {
      if (typeof message !== 'object' || message === null) this.#tellStray(line);
      else this.#deliver(message as JSONRPCMessage);
    }
  }

  #deliver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      // One bad message must not cost the ones after it.
      this.onerror?.(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  #refuse(head: string, tail: string): void {
    const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`;
    const { name, log } = this.#options;
    log('warn', `MCP server \`${name}\` sent a message of more than ${limit}; it was dropped.`);
    const id = idIn(head) ?? idIn(tail);
    if (id === null) return;
    const error = { code: -32603, message: `the answer is larger than ${limit} and was dropped` };
    this.#deliver({ jsonrpc: '2.0', id, error });
  }

  #tellStray(line: string): void {
    if (this.#told) return;
    const { name, log } = this.#options;
    const text = `MCP server \`${name}\` prints to stdout what is no message of the protocol; such lines are skipped. The first: ${line.slice(0, 200)}`;
    log('warn', text);
    this.#told = true;
  }

  #note(line: string): void {
    // Colours and the like are for a terminal that it does not have.
    const text = line.replaceAll(/\u001b\[[0-9;]*[A-Za-z]|\p{Cc}/gu, '').trimEnd();
    this.lastWords = text.slice(0, 300);
    this.#options.log('info', `[${this.#options.name}] ${text}`);
  }
}

/** null for what is no JSON object or array: banners and debug output on stdout are common. */
function parsed(line: string): unknown {
  // To fail at parsing takes many times as long as this.
  if (!/^\s*[{[]/.test(line)) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The id of a message of which only a part is known. */
function idIn(part: string): string | number | null {
  const found = /"id"\s*:\s*(?:(\d{1,15})|"([^"\\]{1,200})")/.exec(part);
  if (found === null) return null;
  return found[1] === undefined ? (found[2] ?? null) : Number(found[1]);
}

function describeEnd(result: CommandResult): string {
  switch (result.type) {
    case 'exited':
      return result.signal === null
        ? `its process ended with exit code ${result.exit_code}`
        : `its process was ended by ${result.signal}`;
    case 'timed_out':
    case 'aborted':
      return 'its process was ended';
    case 'not_started':
      return result.message;
  }
}
