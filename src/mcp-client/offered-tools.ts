/** Which tools of a thread's servers a model is offered, under which names: all of them, or a search for them. */
import type { McpServerSettings, ToolSpec } from '../protocol/index.js';
import type { Tool } from '../tools/index.js';
import { McpTool } from './mcp-tool.js';
import type { Server } from './server.js';
import type { ServerTool } from './server-tool.js';
import { flatNames } from './tool-names.js';
import { TOOL_SEARCH, toolSearch } from './tool-search.js';

/** With more tools, or more bytes of descriptions, they are found by a search instead of filling every request. */
const MAX_TOOLS = 40;
const MAX_BYTES = 40 * 1024;

export type ThreadServer = {
  readonly settings: McpServerSettings;
  /** Its part of the flat names. */
  readonly label: string;
  readonly server: Server;
};

export type OfferedToolsOptions = {
  readonly servers: readonly ThreadServer[];
  /** Feature `tool_search`; without it all tools are always listed. */
  readonly search: boolean;
  /** Waits for servers that are being started. */
  readonly settle: (signal: AbortSignal) => Promise<void>;
};

type Built = { readonly from: readonly ServerTool[]; readonly tools: readonly McpTool[] };

export class OfferedTools {
  readonly #options: OfferedToolsOptions;
  readonly #built = new Map<ThreadServer, Built>();
  /** Names that a search has found; in this order they stand at the end of the list. */
  readonly #found = new Set<string>();
  /** Once there were too many, it stays so: a list that changes its form costs the model's cache. */
  #deferred = false;

  constructor(options: OfferedToolsOptions) {
    this.#options = options;
  }

  /** As of now, in a stable order. */
  specs(): ToolSpec[] {
    const tools = this.#tools();
    if (this.#isDeferred(tools)) {
      const found = [...this.#found].flatMap(name => tools.find(tool => tool.name === name) ?? []);
      return [this.#search(tools).spec, ...found.map(tool => tool.spec)];
    }
    const specs = tools.map(tool => tool.spec);
    return this.#options.search && this.#starting().length > 0 ? [...specs, this.#search([]).spec] : specs;
  }

  /** Of what is listed. */
  names(): string[] {
    return this.specs().flatMap(spec => (spec.type === 'web_search' ? [] : [spec.name]));
  }

  find(name: string): Tool | undefined {
    if (name === TOOL_SEARCH && this.#options.search && this.#options.servers.length > 0) {
      return this.#search(this.#tools());
    }
    const tools = this.#tools();
    const tool = tools.find(one => one.name === name);
    // Called without having been found: from now on it is listed.
    if (tool && this.#isDeferred(tools)) this.#found.add(name);
    return tool as Tool | undefined;
  }

  /** Tools that an earlier part of the thread has used stay listed. */
  recall(names: Iterable<string>): void {
    for (const name of names) if (name.startsWith('mcp__')) this.#found.add(name);
  }

  #tools(): McpTool[] {
    return this.#options.servers.flatMap(one => this.#toolsOf(one));
  }

  #toolsOf(one: ThreadServer): readonly McpTool[] {
    const from = one.server.tools ?? [];
    const built = this.#built.get(one);
    if (built?.from === from) return built.tools;
    const { settings, label, server } = one;
    const names = flatNames(
      label,
      from.map(tool => tool.name),
    );
    const tools = from
      .filter(({ name }) => isChosen(name, settings))
      .map(tool => new McpTool({ flatName: names.get(tool.name) ?? tool.name, settings, tool, server }));
    this.#built.set(one, { from, tools });
    return tools;
  }

  #isDeferred(tools: readonly McpTool[]): boolean {
    if (!this.#options.search) return false;
    this.#deferred ||= tools.length > MAX_TOOLS || bytesOf(tools) > MAX_BYTES;
    return this.#deferred;
  }

  #starting(): string[] {
    return this.#options.servers
      .filter(({ server }) => server.status.state === 'starting' && server.tools === null)
      .map(({ settings }) => settings.name);
  }

  #search(tools: readonly McpTool[]): Tool {
    const servers = this.#options.servers.flatMap(one => {
      const own = this.#toolsOf(one).filter(tool => tools.includes(tool));
      return own.length === 0 ? [] : [{ name: one.settings.name, tools: own.map(tool => tool.searchText.tool) }];
    });
    return toolSearch({
      servers,
      starting: this.#starting(),
      settle: this.#options.settle,
      tools: () => this.#tools(),
      offer: found => {
        for (const { name } of found) this.#found.add(name);
      },
    });
  }
}

function isChosen(tool: string, { enabled_tools, disabled_tools }: McpServerSettings): boolean {
  return (enabled_tools === null || enabled_tools.includes(tool)) && !disabled_tools.includes(tool);
}

function bytesOf(tools: readonly McpTool[]): number {
  return tools.reduce((sum, { spec }) => sum + JSON.stringify(spec).length, 0);
}
