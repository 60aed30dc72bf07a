/** `[[hooks.<Event>]]`, the same in hooks.json. */
import * as z from 'zod';
import { HOOK_EVENTS, type HookEventName } from '../protocol/index.js';
import { table, type ValueKey, value } from './keys.js';

const handler = () =>
  z.strictObject({
    type: z.enum(['command']),
    command: z.string().min(1),
    timeout: z.number().min(0.001).max(86_400).optional(),
    statusMessage: z.string().optional(),
  });

export const hookGroups = () => z.array(z.strictObject({ matcher: z.string().optional(), hooks: z.array(handler()) }));
export type HookGroups = z.infer<ReturnType<typeof hookGroups>>;

const key = (event: HookEventName) =>
  value(
    `Commands at ${event}: tables \`{ matcher?, hooks = [{ type = "command", command, timeout? (seconds), statusMessage? }] }\`.`,
    hookGroups,
  );

export const hookKeys = table(
  'Commands run at certain moments; `hooks.json` beside a config file holds the same.',
  Object.fromEntries(HOOK_EVENTS.map(event => [event, key(event)])) as Record<HookEventName, ValueKey<HookGroups>>,
);
