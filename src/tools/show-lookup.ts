/**
 * Shows that files are being looked at, to those who watch a turn: as the command that a model would have run for it.
 * The item has no process id, since either none ran or it was only ours to read with.
 */
import type { CommandExecutionItem, ParsedCommand } from '../protocol/index.js';
import { bytesOmitted, OUTPUT_LIMIT_BYTES } from './command-output.js';
import { HeadTail } from './head-tail.js';
import type { ToolContext } from './tool.js';

export type Lookup = {
  /** `output`: what the model is shown of it. */
  end(output: string, ok: boolean): void;
};

export function showLookup(context: ToolContext, command: string[], parsed: ParsedCommand[]): Lookup {
  const started = performance.now();
  const item: CommandExecutionItem = {
    type: 'command_execution',
    id: context.call_id,
    process_id: null,
    command,
    cwd: context.cwd,
    parsed,
    source: 'agent',
    status: 'in_progress',
    aggregated_output: '',
    exit_code: null,
    duration_ms: null,
  };
  context.emit({ type: 'item.started', item, at_ms: Date.now() });
  return {
    end: (output, ok) => {
      const kept = new HeadTail(OUTPUT_LIMIT_BYTES);
      kept.push(Buffer.from(output));
      const ended: CommandExecutionItem = {
        ...item,
        status: ok ? 'completed' : 'failed',
        aggregated_output: kept.text(OUTPUT_LIMIT_BYTES, bytesOmitted),
        exit_code: ok ? 0 : 1,
        duration_ms: Math.round(performance.now() - started),
      };
      context.emit({ type: 'item.completed', item: ended, at_ms: Date.now() });
    },
  };
}
