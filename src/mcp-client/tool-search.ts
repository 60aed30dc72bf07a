/** `tool_search`: finds tools that are not in the list because there are too many, or because their server still starts. */
import * as z from 'zod';
import { defineFunctionTool, type Tool } from '../tools/index.js';
import type { McpTool } from './mcp-tool.js';
import { rankTools } from './rank-tools.js';

export const TOOL_SEARCH = 'tool_search';

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 30;
/** Of one description in a result, and of the names in the description of the search itself, characters. */
const MAX_DESCRIPTION = 300;
const MAX_NAMES = 3000;

export type ToolSearchOptions = {
  /** Servers with the names of their tools. */
  readonly servers: readonly { readonly name: string; readonly tools: readonly string[] }[];
  /** Servers that are being started and whose tools are not known. */
  readonly starting: readonly string[];
  /** Waits for those, for a while. */
  readonly settle: (signal: AbortSignal) => Promise<void>;
  readonly tools: () => readonly McpTool[];
  /** Makes these tools part of the list from the next request on. */
  readonly offer: (tools: readonly McpTool[]) => void;
};

const input = z.object({
  query: z.string().describe('Words that say what the tool should do, or its name.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_LIMIT)
    .optional()
    .describe(`How many tools to find; default ${DEFAULT_LIMIT}.`),
});

export function toolSearch(options: ToolSearchOptions): Tool {
  const tool = defineFunctionTool({
    name: TOOL_SEARCH,
    description: describe(options),
    input,
    parallel: true,
    plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
    run: async ({ query, limit }, { signal }) => {
      await options.settle(signal);
      const all = options.tools();
      const texts = all.map(one => one.searchText);
      const found = rankTools(query, texts)
        .slice(0, limit ?? DEFAULT_LIMIT)
        .flatMap(i => all[i] ?? []);
      options.offer(found);
      return { output: report(query, found), is_error: false };
    },
  });
  return tool as Tool;
}

function describe({ servers, starting }: ToolSearchOptions): string {
  const lines = [
    'Finds tools of MCP servers that are not listed here. What it finds can be called from your next step on.',
  ];
  if (servers.length > 0)
    lines.push(
      'Tools that can be found:',
      ...servers.map(({ name, tools }) => listOf(name, tools, MAX_NAMES / servers.length)),
    );
  if (starting.length > 0) {
    lines.push(`Still starting, their tools are not known yet: ${starting.join(', ')}. A search waits for them.`);
  }
  return lines.join('\n');
}

function listOf(server: string, tools: readonly string[], limit: number): string {
  let text = `- ${server} (${tools.length}):`;
  for (const [i, name] of tools.entries()) {
    if (text.length + name.length > limit) return `${text} and ${tools.length - i} more`;
    text += ` ${name}`;
  }
  return text;
}

function report(query: string, found: readonly McpTool[]): string {
  if (found.length === 0) return `No tool matches "${query}". Try other words.`;
  const lines = found.map(({ name, spec }) => `- ${name}: ${firstPart(spec.description)}`);
  return `Found ${found.length}. They can be called from your next step on:\n${lines.join('\n')}`;
}

function firstPart(description: string): string {
  const line = description.replaceAll(/\s+/g, ' ');
  return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION)}…`;
}
