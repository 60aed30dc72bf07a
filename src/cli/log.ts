/** Lines for people on stderr. A reader that went away must not end the process. */

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface Log {
  (level: LogLevel, message: string): void;
  enabled(level: LogLevel): boolean;
}

/** `INTERPRETER_LOG` names the most detailed level that is shown; default `warn`. */
export function createLog(env: Readonly<Record<string, string | undefined>>): Log {
  const wanted = LEVELS.indexOf((env['INTERPRETER_LOG'] ?? 'warn') as LogLevel);
  const most = wanted < 0 ? LEVELS.indexOf('warn') : wanted;
  const enabled = (level: LogLevel) => LEVELS.indexOf(level) <= most;
  const log = (level: LogLevel, message: string) => {
    if (enabled(level)) process.stderr.write(`${new Date().toISOString()} ${level} ${message}\n`);
  };
  return Object.assign(log, { enabled });
}
