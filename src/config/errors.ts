/** What goes wrong in a configuration, told so that a person can mend it without reading on. */

/** Thrown by everything in this room. The message is complete: where, what, and what to do. */
export class ConfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConfigError';
  }
}

/** A place in a file, both counted from 1. */
export type Position = { readonly line: number; readonly column: number };

/** `path:line:column: message` and the line itself with a mark under `length` characters. */
export function atPosition(file: string, text: string, position: Position, length: number, message: string): string {
  const { line, column } = position;
  const source = hideSecrets(text.split(/\r?\n/)[line - 1] ?? '');
  const margin = ' '.repeat(String(line).length);
  const before = source.slice(0, column - 1).replace(/[^\t]/g, ' ');
  const mark = '^'.repeat(Math.max(1, Math.min(length, source.length - column + 1)));
  return `${file}:${line}:${column}: ${message}\n${margin} |\n${line} | ${clip(source)}\n${margin} | ${before}${mark}`;
}

/** A value as it may be shown in a message. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

const SECRET_NAME = /token|secret|password|passwd|authorization|api[_-]?key|bearer|cookie|credential/i;

/** True for names of keys, headers and variables whose values are not shown. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Excerpts show lines as they are, except for quoted text on lines that speak of secrets. */
function hideSecrets(line: string): string {
  if (!isSecretName(line)) return line;
  return line.replace(/=(.*)$/, rest => rest.replace(/[^\s=,{}[\]]/g, '*'));
}

function clip(line: string): string {
  return line.length > 200 ? `${line.slice(0, 197)}...` : line;
}
