/**
 * The native tools: what a model can do with a workspace. A tool plans and runs; it never asks a person and never
 * decides whether it may run.
 */
export { applyPatchTool, recognisePatchCommand } from './apply-patch/index.js';
export { changeFile, type FileChangeCall } from './change-file.js';
export { pollCommand, stopCommand } from './command-sessions.js';
export { defineFunctionTool } from './define-tool.js';
export { escalationInput, execCommandTool } from './exec-command.js';
export { ExecSessions } from './exec-sessions.js';
export { type FindFilesCall, findFiles } from './find-files.js';
export { policyPlaces } from './policy-places.js';
export { type ReadFileCall, readFile } from './read-file.js';
export { type RunShellCall, runShell } from './run-shell.js';
export { type SearchFilesCall, searchFiles } from './search-files.js';
export { shellCommandTool } from './shell-command.js';
export type * from './tool.js';
export { translatedTool } from './translated-tool.js';
export { updatePlanTool } from './update-plan.js';
export { loadImage, viewImageTool } from './view-image.js';
export { writeStdinTool } from './write-stdin.js';
