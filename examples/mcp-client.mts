/** The MCP server, called with the client of the MCP SDK: an approval, progress, and a second turn of the same thread. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client({ name: 'example', version: '1.0.0' }, { capabilities: { elicitation: {} } });

// A person would be asked here. `message` says what is to be done; anything but `accept` is a no.
client.setRequestHandler('elicitation/create', ({ params }) => {
  console.log(`asked: ${params.message.split('\n')[0]}`);
  return { action: 'accept', content: {} };
});

const [command = 'interpreter', ...args] = process.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
);
await client.connect(new StdioClientTransport({ command, args: [...args, 'mcp-server'], env }));

type Outcome = { threadId: string; content: string };

async function call(name: 'codex' | 'codex-reply', values: Record<string, unknown>): Promise<Outcome> {
  const result = await client.callTool(
    { name, arguments: values },
    { onprogress: ({ message }) => console.log(`... ${message ?? ''}`), resetTimeoutOnProgress: true },
  );
  const outcome = result.structuredContent as Outcome;
  if (result.isError) throw new Error(outcome.content);
  return outcome;
}

const first = await call('codex', { prompt: 'Write hello.txt.', cwd: process.cwd(), sandbox: 'read-only' });
console.log(first.content);
const second = await call('codex-reply', { threadId: first.threadId, prompt: 'What did you write?' });
console.log(second.content);
await client.close();
