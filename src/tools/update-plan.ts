/** Shows the caller which steps the model intends and how far it is. */
import * as z from 'zod';
import { defineFunctionTool } from './define-tool.js';

const input = z.object({
  explanation: z.string().optional().describe('Why the plan changed, if it did.'),
  plan: z
    .array(z.object({ step: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) }))
    .describe('All steps in order; at most one is in_progress.'),
});

export const updatePlanTool = defineFunctionTool({
  name: 'update_plan',
  description:
    'Records the steps of the work and their state, for the person who watches. Use it for work of several steps.',
  input,
  parallel: true,
  plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
  run: (call, context) => {
    context.emit({
      type: 'item.updated',
      item: { type: 'plan', id: 'plan', explanation: call.explanation ?? null, steps: call.plan },
      at_ms: Date.now(),
    });
    return Promise.resolve({ output: 'Plan updated', is_error: false });
  },
});
