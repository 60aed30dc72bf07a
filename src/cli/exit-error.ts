/** Ends a command with this exit code and, on stderr, this message. */
export class ExitError extends Error {
  readonly code: number;
  constructor(code: number, message = '') {
    super(message);
    this.name = 'ExitError';
    this.code = code;
  }
}
