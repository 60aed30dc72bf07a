/** What the doctor finds out, one thing at a time. */

export type CheckStatus =
  /** As it should be. */
  | 'ok'
  /** Turns work, something beside them does not. */
  | 'warn'
  /** Turns would fail. */
  | 'fail'
  /** Could not be looked at, because of something that failed before. */
  | 'skipped';

export type Check = {
  /** A word of few, for programs. */
  readonly id: string;
  readonly status: CheckStatus;
  /** What was found. */
  readonly detail: string;
  /** What to do; absent where nothing is to be done. */
  readonly fix?: string;
};

export type Report = {
  /** False: the main job, running turns, would fail. */
  readonly ok: boolean;
  readonly version: string;
  readonly platform: string;
  readonly checks: readonly Check[];
};

export function ok(id: string, detail: string): Check {
  return { id, status: 'ok', detail };
}

export function problem(id: string, status: 'warn' | 'fail', detail: string, fix: string): Check {
  return { id, status, detail, fix };
}

export function skipped(id: string, because: string): Check {
  return { id, status: 'skipped', detail: `not looked at: ${because}` };
}
