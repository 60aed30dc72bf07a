/** One tool as its server lists it, after defaults. */
import type { JsonSchema } from '../protocol/index.js';

export type ServerTool = {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly input_schema: JsonSchema;
  /** What the server says of it; where it says nothing, the worse is assumed, as the specification has it. */
  readonly read_only: boolean;
  readonly destructive: boolean;
  readonly open_world: boolean;
};

/** As the SDK hands it over. */
export type ListedTool = {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: JsonSchema;
  annotations?:
    | {
        title?: string | undefined;
        readOnlyHint?: boolean | undefined;
        destructiveHint?: boolean | undefined;
        openWorldHint?: boolean | undefined;
      }
    | undefined;
};

/** Of tools with the same name the first counts. */
export function serverTools(listed: readonly ListedTool[]): ServerTool[] {
  const byName = new Map<string, ServerTool>();
  for (const tool of listed) if (!byName.has(tool.name)) byName.set(tool.name, serverTool(tool));
  return [...byName.values()];
}

function serverTool({ name, title, description, inputSchema, annotations }: ListedTool): ServerTool {
  return {
    name,
    title: title ?? annotations?.title ?? null,
    description: description ?? null,
    input_schema: inputSchema,
    read_only: annotations?.readOnlyHint ?? false,
    destructive: annotations?.destructiveHint ?? true,
    open_world: annotations?.openWorldHint ?? true,
  };
}
