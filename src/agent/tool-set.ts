/** The tools of one turn, by the names the model sees. */
import type { ToolSpec } from '../protocol/index.js';
import { applyPatchTool, type Tool } from '../tools/index.js';
import type { ToolSet } from './turn-context.js';

/** Can be called whether it is offered or not: a patch may be the text of a shell command. */
const ALWAYS_THERE: ReadonlyMap<string, Tool> = new Map([[applyPatchTool.name, applyPatchTool as Tool]]);

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
  const find = (name: string) => byName.get(name) ?? changing?.find(name) ?? ALWAYS_THERE.get(name);
  return {
    specs: () => [...tools.map(tool => tool.spec), ...(changing?.specs() ?? []), ...hosted],
    names: () => [...byName.keys(), ...(changing?.names() ?? [])],
    // Some models put the namespace into its own field although the tools are offered under flat names.
    find: (name, namespace) => find(name) ?? (namespace ? find(`${namespace}__${name}`) : undefined),
  };
}
