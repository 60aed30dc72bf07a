import type { Event, Item } from '../protocol/index.js';
import { strictJson } from '../util/index.js';
import { commandText, displayPath, oneLine } from './display.js';
import type { LineWriter } from './line-writer.js';

/** Clients give up on a call that shows no sign of life, some after 60 s; the promise is one at least every 5 s. */
const HEARTBEAT_MS = 4_000;
const MAX_MESSAGE_LENGTH = 120;

export type ProgressToken = string | number;

export type ProgressOptions = {
  readonly token: ProgressToken;
  readonly writer: LineWriter;
  /** The first message. */
  readonly message: string;
};

/** Progress notifications of one call: at once, at each item, and as a heartbeat. The numbers only rise. */
export class Progress {
  /** Paths below it are shown relative to it. */
  cwd = '/';
  readonly #token: ProgressToken;
  readonly #writer: LineWriter;
  readonly #startedAt = Date.now();
  #step = 0;
  #message: string;
  #timer: NodeJS.Timeout | undefined;
  #justSent = false;

  constructor({ token, writer, message }: ProgressOptions) {
    this.#token = token;
    this.#writer = writer;
    this.#message = message;
    this.#send(message);
  }

  /** Tells what happens now; the same thing twice is told once. */
  say(message: string): void {
    if (this.#timer === undefined || message === this.#message) return;
    this.#message = message;
    this.#send(message);
  }

  note(event: Event): void {
    const message = describeEvent(event, this.cwd);
    if (message !== null) this.say(oneLine(message, MAX_MESSAGE_LENGTH));
  }

  /** Nothing is sent afterwards. Resolves when a result no longer arrives together with the last notification. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#justSent) await new Promise<void>(resolve => setImmediate(resolve));
  }

  #send(message: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#heartbeat(), HEARTBEAT_MS);
    this.#timer.unref();
    this.#step++;
    if (this.#writer.slow) return;
    this.#justSent = true;
    setImmediate(() => {
      this.#justSent = false;
    });
    const params = { progressToken: this.#token, progress: this.#step, message };
    this.#writer.offer(strictJson({ jsonrpc: '2.0', method: 'notifications/progress', params }));
  }

  #heartbeat(): void {
    const seconds = Math.round((Date.now() - this.#startedAt) / 1000);
    this.#send(`${this.#message} (${seconds} s)`);
  }
}

/** What a person would say is going on; null for events that change nothing. */
function describeEvent(event: Event, cwd: string): string | null {
  switch (event.type) {
    case 'turn.started':
      return 'thinking';
    case 'item.started':
      return describeItem(event.item, cwd);
    case 'item.completed':
      return event.item.type === 'command_execution' || event.item.type === 'mcp_tool_call' ? 'thinking' : null;
    case 'approval.requested':
      return 'waiting for approval';
    case 'approval.decided':
      return event.decision === 'approved' ? 'approved, going on' : 'not approved, going on';
    case 'retry':
      return `trying the model again (${event.attempt}/${event.max})`;
    case 'hook.started':
      return event.message;
    case 'mcp_server.updated':
      return event.state === 'starting' ? `starting MCP server ${event.server}` : null;
    case 'thread.started':
    case 'mcp_servers.ready':
    case 'history.added':
    case 'item.updated':
    case 'text.delta':
    case 'reasoning.delta':
    case 'reasoning.section':
    case 'reasoning.raw_delta':
    case 'command.output':
    case 'command.input':
    case 'response.completed':
    case 'usage.updated':
    case 'diff.updated':
    case 'context.compacted':
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.aborted':
      return null;
  }
}

function describeItem(item: Item, cwd: string): string | null {
  switch (item.type) {
    case 'reasoning':
      return 'thinking';
    case 'agent_message':
      return 'writing an answer';
    case 'command_execution':
      return `running: ${commandText(item.command)}`;
    case 'file_change':
      return `editing ${Object.keys(item.changes)
        .map(path => displayPath(path, cwd))
        .join(', ')}`;
    case 'mcp_tool_call':
      return `using ${item.tool} of ${item.server}`;
    case 'web_search':
      return item.query === '' ? 'searching the web' : `searching the web: ${item.query}`;
    case 'image_view':
      return `looking at ${displayPath(item.path, cwd)}`;
    case 'plan':
      return 'planning';
    case 'compaction':
      return 'summarising the thread';
    case 'user_message':
    case 'warning':
      return null;
  }
}
