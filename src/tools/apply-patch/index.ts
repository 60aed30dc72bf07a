export { type PatchCommand, recognisePatchCommand } from './command.js';
export { type ApplyPatchCall, applyPatchTool } from './tool.js';
