/** What is told about a command: its span, and how the sandbox fared. Its words and its output stay here. */
import path from 'node:path';
import type { CommandResult } from '../protocol/index.js';
import { explainDenial } from '../sandbox/index.js';
import { type Span, traceEnvironment } from '../util/index.js';
import type { ToolContext } from './tool.js';

const SHOWN_OUTPUT = 64 * 1024;

export type WatchedCommand = {
  /** To start it with: the tool's environment and the trace it belongs to. */
  readonly env: Readonly<Record<string, string>>;
  /** It has ended, or was not started. `output`: what it printed, at most so many bytes. */
  ended(result: CommandResult, output: (maxBytes: number) => string): void;
};

export function watchCommand(program: string, context: ToolContext): WatchedCommand {
  const name = path.basename(program);
  const started = performance.now();
  const span = context.span.span(
    // A model may name any shell; what is no plain name is not told.
    `command ${/^[\w.+-]{1,32}$/.test(name) ? name : 'other'}`,
    { 'codex.sandboxed': context.sandboxed, 'codex.sandbox.policy': context.policy.type },
    { kind: 'client' },
  );
  return {
    env: { ...context.env, ...traceEnvironment(span.context()) },
    ended: (result, output) => {
      const outcome = outcomeOf(result, context, output);
      tell(span, result, outcome);
      const duration = Math.round(performance.now() - started);
      span.event('codex.sandbox_outcome', {
        outcome,
        sandboxed: context.sandboxed,
        policy: context.policy.type,
        duration_ms: duration,
      });
      span.end();
    },
  };
}

function tell(span: Span, result: CommandResult, outcome: string): void {
  span.setAttributes({
    'codex.command.outcome': outcome,
    ...(result.type === 'exited' ? { 'process.exit.code': result.exit_code } : {}),
  });
  if (outcome !== 'completed') span.fail(outcome);
}

function outcomeOf(result: CommandResult, context: ToolContext, output: (maxBytes: number) => string): string {
  switch (result.type) {
    case 'exited':
      if (result.exit_code === 0) return 'completed';
      if (context.sandboxed && isDenied(result, context, output(SHOWN_OUTPUT))) return 'denied';
      return result.signal === null ? 'failed' : 'signal';
    case 'timed_out':
    case 'aborted':
    case 'not_started':
      return result.type;
  }
}

function isDenied(result: CommandResult, { policy }: ToolContext, output: string): boolean {
  return explainDenial({ policy, result, output }) !== null;
}
