/** How the result of a command is told to the model. */
import { randomBytes } from 'node:crypto';
import type { HeadTail } from './head-tail.js';

/** Output of one command in events and rollouts: head and tail of at most this many bytes. */
export const OUTPUT_LIMIT_BYTES = 1024 * 1024;

export const tokensTruncated = (removed: number): string => `…${Math.ceil(removed / 4)} tokens truncated…`;

export const bytesOmitted = (removed: number): string => `\n[... ${removed} bytes omitted ...]\n`;

export type CommandReport = {
  wallMs: number;
  /** How it stands: `Process exited with code 3`, `Process running with session ID 8390`. */
  status: string;
  output: HeadTail;
  budgetBytes: number;
  /** Added after the output, e.g. what the sandbox refused. */
  note?: string | null;
};

/** The text of an exec_command or write_stdin result. */
export function reportCommand(report: CommandReport): string {
  const { output, budgetBytes } = report;
  const text = output.text(budgetBytes, tokensTruncated);
  const tokens = Math.ceil(output.total / 4);
  const warning =
    output.total > budgetBytes
      ? `Warning: truncated output (original token count: ${tokens})\nTotal output lines: ${output.lines}\n\n`
      : '';
  return [
    `Chunk ID: ${randomBytes(3).toString('hex')}`,
    `Wall time: ${(report.wallMs / 1000).toFixed(4)} seconds`,
    report.status,
    `Original token count: ${tokens}`,
    'Output:',
    `${warning}${text}${report.note ? `${text.endsWith('\n') || text === '' ? '' : '\n'}\n${report.note}` : ''}`,
  ].join('\n');
}
