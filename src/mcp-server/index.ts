/**
 * Front door 1: an MCP server with the tools `codex` and `codex-reply`, for clients of both protocol eras. Turns calls
 * into turns of threads, events into notifications and progress, approvals into questions to the client.
 * It must never decide an approval itself, never keep a client waiting without an end, and never write anything but
 * protocol messages to its output.
 */

export { reserveStdout } from '../util/index.js';
export type { CodexCall } from './arguments.js';
export { type McpServer, type ServeOptions, serveMcp } from './serve.js';
