/** What `exec --json` prints. */
import { expect, test } from 'vitest';
import { ExecWorld } from '../support/exec-world.js';
import { answer } from '../support/scripted-answers.js';

const USAGE = {
  input_tokens: 100,
  cached_input_tokens: 10,
  cache_write_input_tokens: 0,
  output_tokens: 20,
  reasoning_output_tokens: 5,
};

const SCRIPT = "echo hi; echo err >&2; exit 3; echo 'q'";
const PATCH = `*** Begin Patch
*** Add File: a.txt
+a
*** Update File: b.txt
@@
-b
+B
*** Delete File: c.txt
*** End Patch`;

test('items are numbered through, keep their number, and the plan ends with its turn', async () => {
  const world = await ExecWorld.create([
    answer({ think: '**Thinking** about it' }, { say: 'I will run.' }, { shell: SCRIPT }),
    answer({ plan: 'one: completed, two: in_progress' }),
    answer({ plan: 'one: completed, two: completed' }, { patch: PATCH }),
    answer({ say: 'All done.\u2028' }),
  ]);
  world.write('work/b.txt', 'b\n');
  world.write('work/c.txt', 'c\n');
  const ran = await world.json(['hi']);
  expect(ran.err).toBe('');
  const command = `/bin/bash -c 'echo hi; echo err >&2; exit 3; echo '\\''q'\\'''`;
  const todo = (completed: boolean) => ({
    id: 'item_3',
    type: 'todo_list',
    items: [
      { text: 'one', completed: true },
      { text: 'two', completed },
    ],
  });
  const changes = [
    { path: `${world.cwd}/a.txt`, kind: 'add' },
    { path: `${world.cwd}/b.txt`, kind: 'update' },
    { path: `${world.cwd}/c.txt`, kind: 'delete' },
  ];
  const shell = { id: 'item_2', type: 'command_execution', command };
  expect(ran.events.filter(event => !('item' in event) || event.item.type !== 'command_execution')).toEqual([
    { type: 'thread.started', thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: '**Thinking** about it' } },
    { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'I will run.' } },
    { type: 'item.started', item: todo(false) },
    { type: 'item.updated', item: todo(true) },
    { type: 'item.started', item: { id: 'item_4', type: 'file_change', changes, status: 'in_progress' } },
    { type: 'item.completed', item: { id: 'item_4', type: 'file_change', changes, status: 'completed' } },
    { type: 'item.completed', item: { id: 'item_5', type: 'agent_message', text: 'All done.\u2028' } },
    { type: 'item.completed', item: todo(true) },
    {
      type: 'turn.completed',
      usage: {
        input_tokens: 400,
        cached_input_tokens: 40,
        cache_write_input_tokens: 0,
        output_tokens: 80,
        reasoning_output_tokens: 20,
      },
    },
  ]);
  expect(ran.events.filter(event => 'item' in event && event.item.type === 'command_execution')).toEqual([
    { type: 'item.started', item: { ...shell, aggregated_output: '', exit_code: null, status: 'in_progress' } },
    { type: 'item.completed', item: { ...shell, aggregated_output: 'hi\nerr\n', exit_code: 3, status: 'failed' } },
  ]);
  expect(ran.code).toBe(0);
  // Readers that also end lines at U+2028, such as Node's readline, get whole lines.
  expect(ran.out).not.toContain('\u2028');
});

test('the fields of a line are in the order that the format says', async () => {
  const world = await ExecWorld.create([answer({ shell: 'true' }), answer({ say: 'ok' })]);
  const { out, threadId } = await world.json(['hi']);
  expect(out.split('\n')).toEqual([
    `{"type":"thread.started","thread_id":"${threadId}"}`,
    '{"type":"turn.started"}',
    '{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -c true","aggregated_output":"","exit_code":null,"status":"in_progress"}}',
    '{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -c true","aggregated_output":"","exit_code":0,"status":"completed"}}',
    '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"ok"}}',
    '{"type":"turn.completed","usage":{"input_tokens":200,"cached_input_tokens":20,"cache_write_input_tokens":0,"output_tokens":40,"reasoning_output_tokens":10}}',
    '',
  ]);
});

test('a tool call of an MCP server shows its result, and a failed one its error', async () => {
  const world = await ExecWorld.create([
    answer(
      { call: 'mcp__everything__echo', args: { message: 'hey' } },
      { call: 'mcp__everything__get-structured-content', args: { location: 'Paris' } },
    ),
    answer({ say: 'ok' }),
  ]);
  const server = new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url);
  world.write(
    'home/config.toml',
    `${world.read('home/config.toml')}
[mcp_servers.everything]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(server.pathname)}, "stdio"]
default_tools_approval_mode = "approve"
`,
  );
  const { events, code } = await world.json(['hi']);
  const calls = events.flatMap(event => ('item' in event && event.item.type === 'mcp_tool_call' ? [event] : []));
  const echo = { id: calls[0]?.item.id, type: 'mcp_tool_call', server: 'everything', tool: 'echo' };
  expect(calls.filter(({ item }) => item.type === 'mcp_tool_call' && item.tool === 'echo')).toEqual([
    {
      type: 'item.started',
      item: { ...echo, arguments: { message: 'hey' }, result: null, error: null, status: 'in_progress' },
    },
    {
      type: 'item.completed',
      item: {
        ...echo,
        arguments: { message: 'hey' },
        result: { content: [{ type: 'text', text: 'Echo: hey' }], structured_content: null },
        error: null,
        status: 'completed',
      },
    },
  ]);
  expect(calls.find(({ type, item }) => type === 'item.completed' && item.id !== echo.id)?.item).toMatchObject({
    tool: 'get-structured-content',
    status: 'failed',
    result: { content: [{ type: 'text', text: expect.stringContaining('Invalid') }] },
    error: null,
  });
  expect(code).toBe(0);
});

test('warnings are items, retries are error lines, and a failed turn ends with both', async () => {
  const cut = { stream: ['event: response.created\ndata: {"type":"response.created","response":{"id":"r"}}\n\n'] };
  const world = await ExecWorld.create([cut]);
  const ran = await world.json(['hi', '-m', 'unheard-of']);
  const message = expect.stringContaining('stream');
  expect(ran.events).toEqual([
    { type: 'thread.started', thread_id: ran.threadId },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'error', message: expect.stringContaining('unheard-of') } },
    { type: 'error', message: expect.stringMatching(/^Reconnecting\.\.\. 1\/1 \(.*stream.*\)$/) },
    { type: 'error', message },
    { type: 'turn.failed', error: { message } },
  ]);
  expect(ran.code).toBe(1);
});

test('what still runs at the end of the turn ends with it', async () => {
  const world = await ExecWorld.create([
    answer({ shell: 'sleep 60', args: { yield_time_ms: 250 } }),
    answer({ say: 'ok' }),
  ]);
  const { events } = await world.json(['hi']);
  const [started, completed] = events.flatMap(event =>
    'item' in event && event.item.type === 'command_execution' ? [event] : [],
  );
  expect(started?.type).toBe('item.started');
  expect(completed).toMatchObject({ type: 'item.completed', item: { id: started?.item.id, status: 'failed' } });
  expect(events.at(-1)?.type).toBe('turn.completed');
});

test('a refused command is no item, and the turn goes on', async () => {
  const world = await ExecWorld.create(
    [answer({ shell: 'echo x > out.txt', args: { sandbox_permissions: 'require_escalated' } }), answer({ say: 'fin' })],
    'approval_policy = "on-request"\n',
  );
  const ran = await world.json(['-s', 'read-only', 'hi']);
  expect(ran.items).toEqual([{ id: 'item_0', type: 'agent_message', text: 'fin' }]);
  expect(ran.code).toBe(0);
  expect(ran.events.at(-1)).toEqual({
    type: 'turn.completed',
    usage: { ...USAGE, input_tokens: 200, cached_input_tokens: 20, output_tokens: 40, reasoning_output_tokens: 10 },
  });
});
