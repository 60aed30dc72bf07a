/** The tools of one turn, by the names the model sees. */
import type { Config } from '../config/index.js';
import type { ModelInfo, ToolSpec } from '../protocol/index.js';
import {
  applyPatchTool,
  execCommandTool,
  shellCommandTool,
  type Tool,
  updatePlanTool,
  viewImageTool,
  writeStdinTool,
} from '../tools/index.js';
import type { ToolSet } from './turn-context.js';

/** The native tools that configuration and model allow. */
export function nativeTools(config: Config, model: ModelInfo): Tool[] {
  const shell = config.features.unified_exec ? [execCommandTool, writeStdinTool] : [shellCommandTool];
  const image = config.features.view_image && model.images ? [viewImageTool] : [];
  return [...shell, updatePlanTool, applyPatchTool, ...image] as Tool[];
}

/** Tools that may be others at the next request. */
export interface ChangingTools {
  specs(): ToolSpec[];
  names(): string[];
  find(name: string): Tool | undefined;
}

export function createToolSet(
  tools: readonly Tool[],
  changing: ChangingTools | null = null,
  hosted: readonly ToolSpec[] = [],
): ToolSet {
  const byName = new Map(tools.map(tool => [tool.name, tool]));
  const find = (name: string) => byName.get(name) ?? changing?.find(name);
  return {
    specs: () => [...tools.map(tool => tool.spec), ...(changing?.specs() ?? []), ...hosted],
    names: () => [...byName.keys(), ...(changing?.names() ?? [])],
    // Some models put the namespace into its own field although the tools are offered under flat names.
    find: (name, namespace) => find(name) ?? (namespace ? find(`${namespace}__${name}`) : undefined),
  };
}
