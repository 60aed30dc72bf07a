/** The `requestState` of a parked turn: what the client carries back, signed so that it can't be made up or altered. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isObject } from '../util/index.js';

export type RequestState = {
  readonly thread: string;
  readonly turn: string;
  /** The open questions. */
  readonly questions: readonly string[];
  /** A digest of the call it was given for; the retry must be the same call. */
  readonly call: string;
  /** Names this one handing-out; a turn accepts only its latest, once. */
  readonly ticket: string;
  /** Unix milliseconds. */
  readonly expires: number;
};

export type Verified = { type: 'valid' | 'expired'; state: RequestState } | { type: 'forged' };

export class RequestStates {
  readonly #secret: Uint8Array;

  /** Without a secret, states are good for this process alone, like the turns they stand for. */
  constructor(secret: Uint8Array = randomBytes(32)) {
    this.#secret = secret;
  }

  sign(state: RequestState): string {
    const body = Buffer.from(JSON.stringify(state)).toString('base64url');
    return `${body}.${this.#mac(body)}`;
  }

  verify(text: unknown): Verified {
    if (typeof text !== 'string') return { type: 'forged' };
    const [body = '', mac = '', ...rest] = text.split('.');
    // Compared as text: several texts decode to the same bytes, and only one of them was handed out.
    const expected = Buffer.from(this.#mac(body));
    const given = Buffer.from(mac);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
      return { type: 'forged' };
    }
    const state = JSON.parse(Buffer.from(body, 'base64url').toString()) as RequestState;
    return { type: Date.now() < state.expires ? 'valid' : 'expired', state };
  }

  #mac(body: string): string {
    return createHmac('sha256', this.#secret).update(`open-interpreter request state\n${body}`).digest('base64url');
  }
}

export function newTicket(): string {
  return randomBytes(12).toString('base64url');
}

/** A digest of a tool call that does not depend on the order of members. */
export function callDigest(tool: string, args: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, args ?? null], sortMembers))
    .digest('base64url');
}

function sortMembers(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
