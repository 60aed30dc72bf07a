/** Times of turns for a terminal: a table with bars, and below it what happened when. */
import { oneLine } from './plain-text.js';
import type { TimeShares, TimeSpan, TurnTime } from './time-shares.js';

const LABELS: Readonly<Record<keyof TimeShares, string>> = {
  model: 'model',
  tool: 'tools',
  approval: 'approvals',
  hook: 'hooks',
  servers: 'MCP servers',
  own: 'own work',
};
const ORDER = ['model', 'tool', 'approval', 'hook', 'servers', 'own'] as const;
/** Of one turn. */
const MAX_SPANS = 40;
const MAX_BAR = 40;

/** `columns`: width of the terminal. */
export function timingText(turns: readonly TurnTime[], columns: number): string {
  return turns.map(turn => turnText(turn, columns)).join('\n');
}

function turnText(turn: TurnTime, columns: number): string {
  const { duration_ms: total, shares_ms: shares } = turn;
  const started = turn.started_at === null ? '' : `  ${turn.started_at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}`;
  const lines = [`turn ${turn.turn}  ${seconds(total)}  ${turn.status}${started}`];
  const width = Math.max(8, Math.min(MAX_BAR, columns - 34));
  for (const kind of ORDER) {
    const ms = shares[kind];
    // Approvals, hooks and servers are named where they took part.
    if (ms === 0 && (kind === 'approval' || kind === 'hook' || kind === 'servers')) continue;
    const share = total === 0 ? 0 : ms / total;
    const label = kind === 'own' && !turn.measured ? 'model, own' : LABELS[kind];
    if (kind === 'model' && !turn.measured) continue;
    lines.push(
      `  ${label.padEnd(12)}${seconds(ms).padStart(9)}  ${`${Math.round(share * 100)}%`.padStart(4)}  ${bar(share * width)}`,
    );
  }
  return `${[...lines, ...spanLines(turn, columns)].map(line => line.trimEnd()).join('\n')}\n`;
}

function spanLines({ spans, duration_ms: total }: TurnTime, columns: number): string[] {
  if (spans.length === 0) return [];
  const shown = spans.slice(0, MAX_SPANS).map(span => ({ ...span, name: oneLine(span.name) }));
  const nameWidth = Math.min(24, Math.max(...shown.map(({ name }) => name.length)));
  const width = Math.max(8, Math.min(MAX_BAR, columns - nameWidth - 38));
  const lines = shown.map(span => spanLine(span, { total, nameWidth, width }));
  const rest = spans.length - shown.length;
  return ['', ...lines, ...(rest > 0 ? [`  … and ${rest} more (--json has all)`] : [])];
}

type Widths = { readonly total: number; readonly nameWidth: number; readonly width: number };

function spanLine({ kind, name, start_ms: start, duration_ms: duration }: TimeSpan, widths: Widths): string {
  const { total, nameWidth, width } = widths;
  const column = (ms: number) => (total === 0 ? 0 : Math.min(width, Math.max(0, Math.round((ms / total) * width))));
  const before = Math.min(width - 1, column(start));
  const long = Math.max(1, column(start + duration) - before);
  const shortName = name.slice(0, nameWidth).padEnd(nameWidth);
  return `  ${LABELS[kind].padEnd(12)}${shortName}  +${seconds(start)}${seconds(duration).padStart(9)}  ${' '.repeat(before)}${'▬'.repeat(long)}`;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function bar(length: number): string {
  const eighths = Math.round(length * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

function seconds(ms: number): string {
  if (ms >= 600_000) return `${(ms / 60_000).toFixed(0)} min`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
