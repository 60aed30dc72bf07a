import type { TestProject } from 'vitest/node';
import { checkTools, type ToolState } from '../../scripts/ensure-tools.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** What `describeIf` asks: found out once for the whole run. */
    tools: ToolState;
  }
}

export function setup(project: TestProject): void {
  project.provide('tools', checkTools());
}
