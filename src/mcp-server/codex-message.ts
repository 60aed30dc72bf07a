/** One message of `codex/event`. */
export type CodexMessage = { type: string; [key: string]: unknown };
