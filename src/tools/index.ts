/**
 * The native tools: what a model can do with a workspace. A tool plans and runs; it never asks a person and never
 * decides whether it may run.
 */
export { applyPatchTool, recognisePatchCommand } from './apply-patch/index.js';
export { defineFunctionTool } from './define-tool.js';
export { execCommandTool } from './exec-command.js';
export { type ExecSession, ExecSessions } from './exec-sessions.js';
export { policyPlaces } from './policy-places.js';
export { shellCommandTool } from './shell-command.js';
export type * from './tool.js';
export { updatePlanTool } from './update-plan.js';
export { loadImage, viewImageTool } from './view-image.js';
export { writeStdinTool } from './write-stdin.js';
