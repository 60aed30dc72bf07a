/** Everything that is loaded only after the client was greeted. */
export { openSession } from './session.js';
export { ToolCalls } from './tool-calls.js';
