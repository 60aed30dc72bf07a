export { readGuard } from './access.js';
export { actOnPlan, carryOut } from './carry-out.js';
export { recognisePatchCommand } from './command.js';
export { closestPlace, quoteLine } from './explain.js';
export { FileLines } from './file-lines.js';
export { planFile } from './plan-file.js';
export type { PatchPlan } from './plan-patch.js';
export { PatchRefusal } from './refusal.js';
export { applyPatchTool } from './tool.js';
