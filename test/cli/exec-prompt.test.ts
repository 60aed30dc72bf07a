/** Where the prompt of `exec` comes from. */
import { expect, test } from 'vitest';
import { ExecWorld, type RunOptions } from '../support/exec-world.js';
import { answer } from '../support/scripted-answers.js';

const create = () => ExecWorld.create([answer({ say: 'ok' })]);

const PROMPTS: readonly (readonly [string, string[], RunOptions, string])[] = [
  ['an argument, and no standard input', ['hi'], {}, 'hi'],
  ['an argument, and an empty pipe', ['hi'], { input: '' }, 'hi'],
  ['an argument and piped text', ['sum up'], { input: 'a\nb\n' }, 'sum up\n\n<stdin>\na\nb\n</stdin>'],
  ['an argument, and a pipe that stays open and silent', ['hi'], { input: true }, 'hi'],
  ['no argument', [], { input: 'from stdin ü\n' }, 'from stdin ü\n'],
  ['a dash', ['-'], { input: 'dashed' }, 'dashed'],
  ['no argument, with a byte order mark', [], { input: Buffer.from('\ufeffmarked') }, 'marked'],
  ['UTF-16', [], { input: Buffer.from('\ufeffwide ü', 'utf16le') }, 'wide ü'],
  ['a word behind -- that is also a sub-command', ['--', 'review'], {}, 'review'],
  ['words behind -- that look like an option', ['--', '--json'], {}, '--json'],
];

test.each(PROMPTS)('%s', async (_, args, options, prompt) => {
  const world = await create();
  const ran = await world.json(args, options);
  expect([world.prompt(), ran.code]).toEqual([prompt, 0]);
});

test('it is said that standard input is read, unless a dash asked for it', async () => {
  const world = await create();
  const texts = await Promise.all([
    world.json([], { input: 'a' }),
    world.json(['a'], { input: 'b' }),
    world.json(['-'], { input: 'a' }),
  ]);
  expect(texts.map(({ err }) => err)).toEqual([
    'Reading prompt from stdin...\n',
    'Reading additional input from stdin...\n',
    '',
  ]);
});

test.each([
  ['nothing', '', 'No prompt provided via stdin.'],
  ['blanks', ' \n', 'No prompt provided via stdin.'],
  ['bytes that are no text', Buffer.from([0xc3, 0x28]), 'neither UTF-8 nor UTF-16'],
])('standard input that holds %s is an error, and the model is not asked', async (_, input, message) => {
  const world = await create();
  const { code, out, err } = await world.exec([], { input });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(message);
  expect(world.server.requests).toEqual([]);
});

test('text behind the id of a resumed thread is the whole prompt', async () => {
  const world = await create();
  const { threadId } = await world.json(['one']);
  await world.json(['resume', threadId, 'two'], { input: 'not read' });
  expect(world.prompt()).toBe('two');
});

test('images are attached before the prompt, by comma, by word and by flag, before and behind resume', async () => {
  const world = await create();
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  for (const name of ['a.png', 'b.png', 'c.png', 'd.png']) world.write(`work/${name}`, png);
  const { threadId } = await world.json(['-i', 'a.png,b.png', 'c.png', '--', 'look']);
  const content = () => {
    const input = world.server.requests.at(-1)?.body['input'] as { role: string; content: Record<string, string>[] }[];
    return input.findLast(({ role }) => role === 'user')?.content.map(part => part['text'] ?? part['image_url']);
  };
  const url = `data:image/png;base64,${png.toString('base64')}`;
  const shown = (at: number, name: string) => [
    `<image name=[Image #${at}] path="${world.cwd}/${name}">`,
    url,
    '</image>',
  ];
  expect(content()).toEqual([...shown(1, 'a.png'), ...shown(2, 'b.png'), ...shown(3, 'c.png'), 'look']);
  await world.json(['-i', 'a.png', '--json', 'resume', threadId, '--image', 'd.png', 'and']);
  expect(content()).toEqual([...shown(1, 'a.png'), ...shown(2, 'd.png'), 'and']);
});

test('an image that is not there is told to the model, and the turn runs', async () => {
  const world = await create();
  const { code } = await world.json(['-i', 'nope.png', '--', 'look']);
  expect(world.prompt()).toMatch(/`.*\/nope\.png` could not be used: .*\nlook$/);
  expect(code).toBe(0);
});
