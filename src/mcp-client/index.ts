/**
 * Other people's MCP servers as tools of the agent: processes and connections, their lists of tools, calls, logins.
 * A server that is slow, dead or faulty costs a warning here and never a run. This room decides no approval, keeps no
 * thread, and loads the protocol library only when there is a server to talk to.
 */
export type { McpClientDeps } from './deps.js';
export { type Inspection, inspectServers } from './inspect-server.js';
export { type LogInOptions, logIn } from './oauth/log-in.js';
export { LoginStore } from './oauth/login-store.js';
export { createMcpServers, type McpServers } from './servers.js';
export type { ServerReport, ThreadServers } from './thread-servers.js';
