/**
 * A demonstration model: no intelligence, only the answers of a script file, given over the Responses wire on loopback.
 * The position in the script is read off the request, so that a thread can be continued.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';

type Step = { say: string } | { call: string; arguments: unknown } | { patch: string };
type Script = { answers: Step[][] };
type Item = { type?: string; role?: string };

/** Starts the server; `url` is the base URL for a provider entry. */
export async function startScriptedModel(file: URL): Promise<{ url: string; close: () => void }> {
  const script = JSON.parse(await readFile(file, 'utf8')) as Script;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(script, JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body, response));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the demonstration model has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Body = { input: Item[]; tools?: { type: string; name?: string }[] };

function answer(script: Script, body: Body, response: ServerResponse): void {
  const at = answersSoFar(body.input);
  const steps = script.answers[at] ?? [{ say: 'The script of the demonstration model ends here.' }];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event: { type: string }) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const id = `resp_demo_${at}`;
  send({ type: 'response.created', response: { id, status: 'in_progress' } } as { type: string });
  for (const [i, step] of steps.entries()) {
    const item = itemOf(step, `${at}_${i}`, body);
    if ('say' in step) {
      send({ type: 'response.output_item.added', output_index: i, item: { ...item, content: [] } } as { type: string });
      send({ type: 'response.output_text.delta', item_id: item.id, output_index: i, delta: step.say } as {
        type: string;
      });
    }
    send({ type: 'response.output_item.done', output_index: i, item } as { type: string });
  }
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
  send({ type: 'response.completed', response: { id, status: 'completed', output: [], usage } } as { type: string });
  response.end();
}

/** Runs of items that came from the model. */
function answersSoFar(input: readonly Item[]): number {
  let answers = 0;
  let inAnswer = false;
  for (const item of input) {
    const fromModel = item.type?.endsWith('_call') === true || item.role === 'assistant';
    if (fromModel && !inAnswer) answers++;
    inAnswer = fromModel;
  }
  return answers;
}

function itemOf(step: Step, id: string, body: Body): { id: string; type: string; [field: string]: unknown } {
  if ('say' in step) {
    const content = [{ type: 'output_text', text: step.say, annotations: [] }];
    return { type: 'message', id: `msg_demo_${id}`, role: 'assistant', status: 'completed', content };
  }
  const call_id = `call_demo_${id}`;
  if ('call' in step) {
    return {
      type: 'function_call',
      id: `fc_demo_${id}`,
      call_id,
      name: step.call,
      arguments: JSON.stringify(step.arguments),
    };
  }
  const custom = body.tools?.some(tool => tool.type === 'custom' && tool.name === 'apply_patch') === true;
  return custom
    ? { type: 'custom_tool_call', id: `ctc_demo_${id}`, call_id, name: 'apply_patch', input: step.patch }
    : {
        type: 'function_call',
        id: `fc_demo_${id}`,
        call_id,
        name: 'apply_patch',
        arguments: JSON.stringify({ input: step.patch }),
      };
}
