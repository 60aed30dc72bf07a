export { recognisePatchCommand } from './command.js';
export { applyPatchTool } from './tool.js';
