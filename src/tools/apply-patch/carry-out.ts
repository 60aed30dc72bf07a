/** A verified plan on its way through a call: what is to be decided about it, and its execution. */
import type { FileChangeItem } from '../../protocol/index.js';
import type { Plan, ToolContext, ToolFacts } from '../tool.js';
import { writeOptions } from './access.js';
import type { PatchPlan } from './plan-patch.js';
import { writePlan } from './write-plan.js';

/** The files that would be written, for the verdict and for whoever is asked. */
export function actOnPlan(plan: PatchPlan, facts: ToolFacts): Plan {
  return {
    type: 'act',
    action: { type: 'patch', changes: plan.changes, writes: plan.writes.map(write => write.real), cwd: facts.cwd },
    item: fileChange(facts.call_id, plan, { status: 'in_progress', stdout: '', stderr: '' }),
  };
}

/** Writes the plan and completes its item. `text` ends in a line feed and says what was done or why nothing was. */
export function carryOut(plan: PatchPlan, context: ToolContext): { done: boolean; text: string } {
  const outcome = writePlan(plan, writeOptions(context));
  const done = outcome.type === 'written';
  const text = done ? `Success. Updated the following files:\n${plan.summary.join('\n')}\n` : `${outcome.message}\n`;
  context.emit({
    type: 'item.completed',
    item: fileChange(context.call_id, plan, {
      status: done ? 'completed' : 'failed',
      stdout: done ? text : '',
      stderr: done ? '' : text,
    }),
    at_ms: Date.now(),
  });
  return { done, text };
}

function fileChange(
  id: string,
  { changes }: PatchPlan,
  result: Pick<FileChangeItem, 'status' | 'stdout' | 'stderr'>,
): FileChangeItem {
  return { type: 'file_change', id, changes, auto_approved: true, ...result };
}
