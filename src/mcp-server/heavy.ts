/** The protocol library and what stands on it: heavy to load. */
import * as z from 'zod';

export { openSession, rehearse } from './session.js';
export { ToolCalls } from './tool-calls.js';

// Zod compiles a schema at its first use, which takes longer than it saves in the few messages of a client.
z.config({ jitless: true });
