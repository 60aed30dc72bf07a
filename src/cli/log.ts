/** Lines for people, on stderr and in files. A reader that went away must not end the process. */
import { createRedactor, type LogPlace } from '../telemetry/index.js';
import { type Env, messageOf } from '../util/index.js';
import { LogFile } from './log-file.js';

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface Log {
  /** `place`: the thread and the turn it is about. */
  (level: LogLevel, message: string, place?: LogPlace): void;
  enabled(level: LogLevel): boolean;
  /** From now on lines go to files in this folder as well (`log_dir`), there at least those of level `info`. */
  keepIn(folder: string): void;
}

/** `INTERPRETER_LOG` names the most detailed level that is shown on stderr; default `warn`. */
export function createLog(env: Env, onStderr = (text: string): void => void process.stderr.write(text)): Log {
  const wanted = LEVELS.indexOf(env['INTERPRETER_LOG']?.trim().toLowerCase() as LogLevel);
  const shown = wanted < 0 ? LEVELS.indexOf('warn') : wanted;
  const kept = Math.max(shown, LEVELS.indexOf('info'));
  const redact = createRedactor({ env });
  let file: LogFile | null = null;

  const enabled = (level: LogLevel) => LEVELS.indexOf(level) <= (file === null ? shown : kept);
  const log = (level: LogLevel, message: string, place: LogPlace = {}) => {
    if (!enabled(level)) return;
    const { thread = '-', turn = '-' } = place;
    const start = `${new Date().toISOString()} ${level} thread=${thread} turn=${turn} `;
    const text = redact(message)
      .split('\n')
      .map(line => `${start}${line}\n`)
      .join('');
    if (LEVELS.indexOf(level) <= shown) onStderr(text);
    file?.write(text);
  };
  const keepIn = (folder: string) => {
    const onProblem = (error: unknown) => {
      file = null;
      log('warn', `Log files in ${folder} can't be written: ${messageOf(error)}. Check log_dir.`);
    };
    file?.close();
    file = new LogFile({ folder, onProblem });
  };
  return Object.assign(log, { enabled, keepIn });
}
