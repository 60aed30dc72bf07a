/** What `exec` shows to a person. */
import { PassThrough } from 'node:stream';
import pc from 'picocolors';
import { expect, test } from 'vitest';
import { HumanPrinter } from '../../src/cli/exec/human-printer.js';
import { StandardOutput } from '../../src/cli/exec/standard-output.js';
import { type Event, NO_USAGE } from '../../src/protocol/index.js';
import { ExecWorld } from '../support/exec-world.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';

const PATCH = '*** Begin Patch\n*** Add File: n.txt\n+new\n*** End Patch';

test('the answer alone is on standard output, everything else on standard error', async () => {
  const world = await ExecWorld.create([
    answer({ think: 'Thinking.' }, { say: 'I will look.' }, { shell: 'echo noise; exit 2' }),
    answer({ plan: 'one: completed, two: pending' }, { patch: PATCH }),
    answer({ say: 'the\nanswer' }),
  ]);
  const { out, err, code } = await world.exec(['do it']);
  expect({ out, code }).toEqual({ out: 'the\nanswer\n', code: 0 });
  const shown = err
    .replaceAll(world.cwd, 'WORK')
    .replace(/\b\d+(\.\d+)?m?s\b/g, 'TIME')
    .replace(/session id: .*/, 'session id: ID');
  expect(shown.slice(shown.indexOf('--------'))).toBe(`--------
workdir: WORK
model: gpt-4.1
provider: mock
approval: never
sandbox: danger-full-access
reasoning effort: none
reasoning summaries: none
session id: ID
--------
user
do it
Thinking.
agent
I will look.
exec
/bin/bash -c 'echo noise; exit 2' in WORK
 exited 2 in TIME:
noise
plan
[x] one
[ ] two
patch completed
A n.txt
diff
diff --git a/n.txt b/n.txt
new file mode 100644
index 0000000000000000000000000000000000000000..3e757656cf36eca53338e520d134963a44f793f8
--- /dev/null
+++ b/n.txt
@@ -0,0 +1 @@
+new
tokens used
330
`);
});

test('what a hook says about itself is shown while it runs', async () => {
  const world = await ExecWorld.create([answer({ say: 'ok' })]);
  const hook = { type: 'command', command: 'true', statusMessage: 'checking \u001b[31mthe prompt' };
  world.write('home/hooks.json', JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }));
  const { err } = await world.exec(['hi']);
  expect(err).toContain('\nhook: checking');
  expect(err).not.toContain('\u001b');
});

test('the cost is told where the price is known', async () => {
  const world = await ExecWorld.create([answer({ say: 'ok' })]);
  const price = { input: 1000, cached_input: 100, output: 10_000 };
  world.write('models.json', JSON.stringify({ models: [{ id: 'priced', price }] }));
  const { err } = await world.exec(['-m', 'priced', '-c', `model_catalog_json=${world.root}/models.json`, 'hi']);
  // 90 fresh, 10 cached, 20 out: 0.09 + 0.001 + 0.2
  expect(err).toMatch(/tokens used\n110\ncost\nabout \$0\.2910\n$/);
});

test.each([
  [['--color', 'always'], {}, true],
  [['--color', 'auto'], {}, false],
  [['--color', 'never'], {}, false],
])('colours with %j', async (flags, env, coloured) => {
  const world = await ExecWorld.create([answer({ say: 'ok' })]);
  const { out, err } = await world.exec([...flags, 'hi'], { env });
  expect([out, err.includes('\u001b[')]).toEqual(['ok\n', coloured]);
});

test('what a model or a command prints can not steer the terminal', async () => {
  const world = await ExecWorld.create([
    answer({ say: 'a\u001b]0;title\u0007b\u001b[2Jc' }, { shell: "printf 'x\\033[31my\\rz\\n'" }),
    answer({ say: 'raw \u001b[1m' }),
  ]);
  const { out, err } = await world.exec(['hi']);
  expect(err).not.toMatch(/[\u001b\r\u0007]/);
  expect(err).toContain('abc');
  // A pipe gets the answer as it is.
  expect(out).toBe('raw \u001b[1m\n');
});

type Screen = { printer: HumanPrinter; written: () => string; send: (...events: Event[]) => void };

/** A printer on a terminal of 40 columns. */
function onTerminal(): Screen {
  let written = '';
  const stderr = { isTTY: true, columns: 40, write: (text: string) => ((written += text), true) };
  const printer = new HumanPrinter({
    output: new StandardOutput(new PassThrough(), () => {}),
    outputIsTerminal: true,
    stderr: stderr as unknown as NodeJS.WriteStream,
    colors: pc.createColors(false),
    banner: 'banner',
    head: [],
    prompt: 'hi',
    cwd: '/work',
    price: null,
  });
  const send = (...events: Event[]) => {
    for (const event of events) printer.event(event);
  };
  return { printer, written: () => written, send };
}

const SHELL = {
  type: 'command_execution',
  id: 'c',
  process_id: null,
  command: ['/bin/sh', '-c', 'make a rather long noise'],
  cwd: '/work',
  parsed: [],
  source: 'agent',
  status: 'in_progress',
  aggregated_output: '',
  exit_code: null,
  duration_ms: null,
} as const;

test('a terminal shows what runs, since when and at what expense, in one line of its width', async () => {
  const { printer, written, send } = onTerminal();
  send(
    { type: 'thread.started', thread_id: 't', settings: {} as never },
    { type: 'turn.started', turn_id: 'u', started_at_ms: 0, model_context_window: null },
    {
      type: 'usage.updated',
      last: { ...NO_USAGE, input_tokens: 1200, output_tokens: 34 },
      total: NO_USAGE,
      model_context_window: null,
    },
    { type: 'item.started', item: { ...SHELL, command: [...SHELL.command], parsed: [] }, at_ms: 0 },
  );
  const line = await until(() => /\r\u001b\[2K(. [^\r\n]*running[^\r\n]*)/.exec(written())?.[1]);
  expect(line).toMatch(/^\S \S+m?s · 1,234 tokens · running.*…$/);
  expect(line.length).toBeLessThan(40);
  printer.end('done');
  expect(written()).toMatch(/\r\u001b\[2K[^\r]*tokens used\n1,234\n$/);
});

test('a question is shown while it waits', async () => {
  const { printer, written, send } = onTerminal();
  const request = { id: 'q', thread_id: 't', turn_id: 'u', call_id: 'c', reason: null } as const;
  send({
    type: 'approval.requested',
    request: { ...request, type: 'command', command: ['ls'], cwd: '/', parsed: [], unsandboxed: true },
  });
  expect(written()).toContain('approval needed: ls\n');
  await until(() => written().includes('waiting for appro'));
  send({ type: 'approval.decided', request_id: 'q', decision: 'denied' });
  expect(written()).toContain('approval denied\n');
  printer.end(null);
});
