/** Texts of models and commands as they may be shown on a terminal. */
import { stripVTControlCharacters } from 'node:util';

/** Without escape sequences and control characters, which could move the cursor, change the title or paste keys. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** The same in one line. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** The first `max` lines; what is left out is counted. */
export function firstLines(text: string, max: number): string {
  const lines = text.replace(/\n+$/, '').split('\n');
  if (lines.length <= max + 1) return lines.join('\n');
  return `${lines.slice(0, max).join('\n')}\n… ${lines.length - max} more lines`;
}

/** Milliseconds as a person says them: `340ms`, `2.1s`, `3m 05s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}m ${String(whole % 60).padStart(2, '0')}s`;
}

/** A whole number with separators between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
