/** Lines for the log of the process; nobody but the person who runs it reads them. */
export type McpLog = (level: 'warn' | 'info' | 'debug', message: string) => void;
