/** Finds tools by words: names count most, then servers, then descriptions and parameters. */
export type SearchText = {
  readonly server: string;
  readonly tool: string;
  readonly description: string;
  readonly parameters: readonly string[];
};

/** Positions of the tools that match, the best first; all, in their order, for a query without words. */
export function rankTools(query: string, tools: readonly SearchText[]): number[] {
  const words = wordsOf(query);
  if (words.length === 0) return tools.map((_, i) => i);
  return tools
    .map((tool, i) => ({ i, score: scoreOf(words, query, tool) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.i - b.i)
    .map(({ i }) => i);
}

function scoreOf(words: readonly string[], query: string, tool: SearchText): number {
  const asked = query.trim().toLowerCase();
  const exact = asked === tool.tool.toLowerCase() || asked.endsWith(`__${tool.tool.toLowerCase()}`);
  const name = new Set(wordsOf(tool.tool));
  const server = new Set(wordsOf(tool.server));
  const description = new Set(wordsOf(tool.description));
  const parameters = new Set(wordsOf(tool.parameters.join(' ')));
  const flat = tool.tool.toLowerCase();
  const perWord = words.map(word => {
    let score = 0;
    if (name.has(word)) score += 10;
    else if (flat.includes(word)) score += 5;
    if (server.has(word)) score += 4;
    if (description.has(word)) score += 3;
    if (parameters.has(word)) score += 1;
    return score;
  });
  const matched = perWord.filter(score => score > 0).length;
  // A tool that has something to do with every word comes before one that has much to do with one of them.
  return perWord.reduce((sum, score) => sum + score, 0) * (matched / words.length) + (exact ? 100 : 0);
}

/** `getIssueComments` -> get, issue, comment. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
    .map(word => (word.length > 3 ? word.replace(/(?<=[^s])s$/, '') : word));
}
