/** Items as `exec --json` shows them. */
import type { Item, JsonlFileChange, JsonlItem, McpToolCallItem } from '../../protocol/index.js';
import { joinShellWords } from '../../util/index.js';

/** The item under the id it has in the output; null for the kinds that are not shown. */
export function toJsonlItem(item: Item, id: string): JsonlItem | null {
  switch (item.type) {
    case 'agent_message':
      return { id, type: 'agent_message', text: item.text };
    case 'reasoning': {
      const text = item.summary.join('\n') || item.raw.join('\n');
      return text === '' ? null : { id, type: 'reasoning', text };
    }
    case 'command_execution':
      return {
        id,
        type: 'command_execution',
        command: joinShellWords(item.command),
        aggregated_output: item.aggregated_output,
        exit_code: item.exit_code,
        status: item.status,
      };
    case 'file_change':
      return {
        id,
        type: 'file_change',
        changes: Object.entries(item.changes).map(([path, { type }]) => ({ path, kind: type })),
        status: fileChangeStatus(item.status),
      };
    case 'mcp_tool_call':
      return {
        id,
        type: 'mcp_tool_call',
        server: item.server,
        tool: item.tool,
        arguments: item.arguments,
        result: toolResult(item.result),
        error: item.error,
        status: item.result?.is_error === true ? 'failed' : item.status,
      };
    case 'web_search':
      return { id, type: 'web_search', query: item.query, action: item.action };
    case 'plan':
      return {
        id,
        type: 'todo_list',
        items: item.steps.map(({ step, status }) => ({ text: step, completed: status === 'completed' })),
      };
    case 'warning':
      return { id, type: 'error', message: item.message };
    case 'user_message':
    case 'image_view':
    case 'compaction':
      return null;
  }
}

function fileChangeStatus(status: 'in_progress' | 'completed' | 'failed' | 'declined'): JsonlFileChange['status'] {
  return status === 'declined' ? 'failed' : status;
}

function toolResult(result: McpToolCallItem['result']) {
  return result && { content: result.content, structured_content: result.structured_content ?? null };
}
