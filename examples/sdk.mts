/** A thread in 20 lines: events as they come, then a second turn whose answer is a typed value. */
import { Interpreter } from 'open-interpreter';
import * as z from 'zod';

const interpreter = new Interpreter();
const thread = interpreter.startThread({ sandboxMode: 'read-only', skipGitRepoCheck: true });

const { events } = await thread.runStreamed('Look around: what is this project?');
for await (const event of events) {
  if (event.type === 'item.started' && event.item.type === 'command_execution') console.log(`$ ${event.item.command}`);
  if (event.type === 'item.completed' && event.item.type === 'agent_message') console.log(event.item.text);
}

const outputSchema = z.object({ language: z.string(), files: z.number() });
const { output, usage } = await thread.run('Its main language, and how many files it has?', { outputSchema });
console.log(`${output.files} files, mostly ${output.language}; ${usage?.output_tokens ?? 0} tokens written`);
console.log(`go on with: interpreter exec resume ${thread.id}`);
