/** One line of a rollout, from bytes to fields. */
import { asCount, asFields, asString, type Fields } from './fields.js';

export type ParsedLine = {
  readonly timestamp: string | null;
  readonly ordinal: number | null;
  readonly type: string;
  readonly payload: Fields;
};

export type LineResult =
  | { readonly type: 'line'; readonly line: ParsedLine }
  /** Well-formed as far as one can see, and of no use to a resume: its content was not looked at. */
  | { readonly type: 'skipped'; readonly ordinal: number | null }
  | { readonly type: 'blank' }
  | { readonly type: 'damaged'; readonly reason: string };

/** The beginning of a line as every writer of this format makes it. */
const HEAD = /^\{"timestamp":"[^"]*",(?:"ordinal":(\d+),)?"type":"(\w+)","payload":\{(?:"type":"(\w+)")?/;
const HEAD_BYTES = 160;
const LINE_BEGIN = '{"timestamp":"';
const LINE_END = '}}';

/**
 * Parses a line. Events for which `wanted` says no are skipped unread. Where a torn line and a whole one
 * share a line, the whole one is taken.
 */
export function parseLine(bytes: Buffer, wanted: (event: string) => boolean): LineResult {
  const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES));
  const event = head?.[2] === 'event_msg' ? head[3] : undefined;
  if (event !== undefined && !wanted(event) && isWhole(bytes)) {
    return { type: 'skipped', ordinal: head?.[1] === undefined ? null : Number(head[1]) };
  }
  const text = bytes.toString().trim();
  if (text === '') return { type: 'blank' };
  return parseText(text);
}

function isWhole(bytes: Buffer): boolean {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 3)).trimEnd();
  return end.endsWith(LINE_END) && bytes.indexOf(LINE_BEGIN, 1, 'latin1') === -1;
}

function parseText(text: string): LineResult {
  let reason: string;
  try {
    const parsed: unknown = JSON.parse(text);
    return toLine(parsed);
  } catch {
    // Told to the caller as a damaged line; the parser's own words would quote the content.
    reason = 'not JSON';
  }
  const again = text.indexOf(LINE_BEGIN, 1);
  const rest = again === -1 ? null : parseText(text.slice(again));
  return rest?.type === 'line' ? rest : { type: 'damaged', reason };
}

function toLine(parsed: unknown): LineResult {
  const fields = asFields(parsed);
  const type = asString(fields?.['type']);
  const payload = asFields(fields?.['payload']);
  if (fields === null || type === null || payload === null) return { type: 'damaged', reason: 'not a rollout line' };
  return {
    type: 'line',
    line: { timestamp: asString(fields['timestamp']), ordinal: asCount(fields['ordinal']), type, payload },
  };
}
