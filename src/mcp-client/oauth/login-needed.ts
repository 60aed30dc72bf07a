/** A server wants a login that only a person can make. */
export class LoginNeededError extends Error {
  constructor() {
    super('a login is needed');
    this.name = 'LoginNeededError';
  }
}
