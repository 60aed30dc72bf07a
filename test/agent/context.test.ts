import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HistoryItem } from '../../src/protocol/index.js';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { DOT } from '../support/dot-image.js';
import { textsOf } from '../support/scripted-provider.js';

type Message = HistoryItem & { type: 'message' };

/** Role and first words of each text part of each message. */
function outline(items: readonly HistoryItem[]): string[] {
  return items.map(item => {
    if (item.type !== 'message') return item.type;
    const parts = item.content.map(part => ('text' in part ? (part.text.split('\n')[0] ?? '') : part.type));
    return `${item.role}: ${parts.join(' | ')}`;
  });
}

const messages = (items: readonly HistoryItem[] | undefined) =>
  (items ?? []).filter((item): item is Message => item.type === 'message');

const inputOf = (world: AgentWorld, request: number) => world.provider.requests[request]?.input ?? [];

/** The parts of the environment block in a request's last context message. */
function environment(world: AgentWorld, request: number): string {
  return (
    textsOf(world.provider.requests[request], 'user')
      .filter(text => text.includes('<environment_context>'))
      .at(-1) ?? ''
  );
}

describe('the first request of a thread', () => {
  it('has developer blocks, then AGENTS.md and environment, then the prompt', async () => {
    const world = new AgentWorld();
    world.write('work/AGENTS.md', 'Use tabs.');
    world.write('work/.agents/skills/one/SKILL.md', '---\nname: one\ndescription: does one thing\n---\nbody');
    execFileSync('git', ['init', '-q', world.cwd]);
    await runTurn(await world.thread({ c: ['developer_instructions="Be brief."'] }), 'the prompt');
    expect(outline(inputOf(world, 0))).toEqual([
      'developer: Be brief. | <skills_instructions> | <permissions instructions>',
      `user: # AGENTS.md instructions for ${world.cwd} | <environment_context>`,
      'user: the prompt',
    ]);
  });

  it('has the base instructions beside the history, and those of the configuration in their place', async () => {
    const world = new AgentWorld();
    await runTurn(await world.thread(), 'x');
    await runTurn(await world.thread({ arguments: { base_instructions: 'Only this.' } }), 'x');
    const [own, replaced] = world.provider.requests;
    expect(own?.instructions).toMatch(/^You are Open Interpreter/);
    expect(replaced?.instructions).toBe('Only this.');
  });

  it('says where and when it is, in which shell, and what may be written', async () => {
    const world = new AgentWorld();
    await runTurn(
      await world.thread({ c: ['sandbox_mode=workspace-write', 'sandbox_workspace_write.network_access=true'] }),
      'x',
    );
    const now = new Date();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(n => String(n).padStart(2, '0')).join('-');
    const lines = environment(world, 0).split('\n');
    expect(lines).toEqual([
      '<environment_context>',
      `  <cwd>${world.cwd}</cwd>`,
      '  <shell>sh</shell>',
      `  <current_date>${date}</current_date>`,
      expect.stringMatching(/^ {2}<timezone>[^<]+<\/timezone>$/),
      '  <network_access>enabled</network_access>',
      expect.stringContaining(`<entry access="write"><path>${world.cwd}</path></entry>`),
      '</environment_context>',
    ]);
    const permissions = textsOf(world.provider.requests[0], 'developer').join();
    expect(permissions).toContain('sandbox_mode is workspace-write');
    expect(permissions).toContain('Network access is enabled');
    expect(permissions).toContain('approval_policy is never');
    expect(permissions).toContain(`Writable: ${world.cwd}`);
  });

  it('leaves out the blocks that are switched off', async () => {
    const world = new AgentWorld();
    const c = ['include_permissions_instructions=false', 'include_environment_context=false'];
    await runTurn(await world.thread({ c }), 'the prompt');
    expect(outline(inputOf(world, 0))).toEqual(['user: the prompt']);
  });

  it('waits for no pipe and reads no device in the place of AGENTS.md', async () => {
    const world = new AgentWorld();
    execFileSync('mkfifo', [path.join(world.cwd, 'AGENTS.md')]);
    symlinkSync('/dev/zero', path.join(world.home, 'AGENTS.md'));
    const { status } = await runTurn(await world.thread(), 'x');
    expect(status).toBe('completed');
    expect(outline(inputOf(world, 0)).join()).not.toContain('AGENTS.md');
  });

  it('escapes what would break the environment block', async () => {
    const world = new AgentWorld();
    world.write('work/a<b>&c/x', '');
    await runTurn(await world.thread({ cwd: `${world.cwd}/a<b>&c` }), 'x');
    expect(environment(world, 0)).toContain(`<cwd>${world.cwd}/a&lt;b&gt;&amp;c</cwd>`);
  });

  it('has images before the text, and says which one could not be used', async () => {
    const world = new AgentWorld();
    const image = world.write('work/dot.png', DOT);
    const thread = await world.thread();
    await runTurn(thread, '', {
      input: [
        { type: 'text', text: 'look' },
        { type: 'local_image', path: image },
        { type: 'local_image', path: `${world.cwd}/none.png` },
      ],
    });
    expect(messages(inputOf(world, 0)).at(-1)?.content).toEqual([
      { type: 'input_text', text: `<image name=[Image #1] path="${image}">` },
      { type: 'input_image', image_url: `data:image/png;base64,${DOT.toString('base64')}`, detail: 'high' },
      { type: 'input_text', text: '</image>' },
      { type: 'input_text', text: expect.stringMatching(/^The image file `.*none\.png` could not be used/) },
      { type: 'input_text', text: 'look' },
    ]);
  });
});

describe('later turns', () => {
  it('repeat the whole history and send no context again', async () => {
    const world = new AgentWorld([[{ say: 'one' }], [{ say: 'two' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'p1');
    await runTurn(thread, 'p2');
    const [first, second] = [inputOf(world, 0), inputOf(world, 1)];
    expect(second.slice(0, first.length)).toEqual(first);
    expect(outline(second.slice(first.length))).toEqual(['assistant: one', 'user: p2']);
  });

  it('send what has changed: AGENTS.md', async () => {
    const world = new AgentWorld();
    world.write('work/AGENTS.md', 'old');
    const thread = await world.thread();
    await runTurn(thread, 'p1');
    world.write('work/AGENTS.md', 'new');
    await runTurn(thread, 'p2');
    const added = inputOf(world, 1).slice(inputOf(world, 0).length);
    expect(outline(added)).toEqual(['assistant: done', `user: # AGENTS.md instructions for ${world.cwd}`, 'user: p2']);
    expect(textsOf(world.provider.requests[1], 'user').at(-2)).toContain('new');
  });

  it('of a thread that was resumed with the same settings send no context', async () => {
    const world = new AgentWorld();
    world.write('work/AGENTS.md', 'rules');
    const { id } = await world.thread().then(async thread => {
      await runTurn(thread, 'p1');
      return thread;
    });
    await runTurn(await world.manager().getThread(id), 'p2');
    const added = inputOf(world, 1).slice(inputOf(world, 0).length);
    expect(inputOf(world, 1).slice(0, inputOf(world, 0).length)).toEqual(inputOf(world, 0));
    expect(outline(added)).toEqual(['assistant: done', 'user: p2']);
  });

  it('of a thread that was resumed with other settings send those that changed', async () => {
    const world = new AgentWorld();
    world.write('other/x', '');
    const thread = await world.thread();
    await runTurn(thread, 'p1');
    const config = world.config({ cwd: `${world.root}/other`, c: ['sandbox_mode=read-only'] });
    await runTurn(await world.manager().getThread(thread.id, config), 'p2');
    const added = inputOf(world, 1).slice(inputOf(world, 0).length);
    expect(outline(added)).toEqual([
      'assistant: done',
      'developer: <permissions instructions>',
      'user: <environment_context>',
      'user: p2',
    ]);
    const block = environment(world, 1);
    expect(block).toContain(`<cwd>${world.root}/other</cwd>`);
    expect(block).toContain('<network_access>restricted</network_access>');
    expect(block).not.toContain('<shell>');
    expect(block).not.toContain('<current_date>');
  });
});

describe('AGENTS.md', () => {
  async function blockOf(world: AgentWorld, c: string[] = [], cwd = world.cwd): Promise<string> {
    await runTurn(await world.thread({ c, cwd }), 'x');
    const texts = textsOf(world.provider.requests.at(-1), 'user');
    return texts.find(text => text.startsWith('# AGENTS.md'))?.split('\n<environment_context>')[0] ?? '';
  }

  function project(world: AgentWorld): string {
    execFileSync('git', ['init', '-q', world.cwd]);
    world.write('work/AGENTS.md', 'root\n');
    world.write('work/a/NOTES.md', 'fallback\n');
    world.write('work/a/b/AGENTS.md', 'never read\n');
    world.write('work/a/b/AGENTS.override.md', 'nearest\n');
    return `${world.cwd}/a/b`;
  }

  it('of the person comes first, then those from the root of the project down to the working directory', async () => {
    const world = new AgentWorld();
    world.write('home/AGENTS.md', 'mine\n');
    const cwd = project(world);
    expect(await blockOf(world, ['project_doc_fallback_filenames=["NOTES.md"]'], cwd)).toBe(
      `# AGENTS.md instructions for ${cwd}\n\n<INSTRUCTIONS>\nmine\n\n--- project-doc ---\n\nroot\n\nfallback\n\nnearest\n</INSTRUCTIONS>`,
    );
  });

  it('of the project alone has no separator', async () => {
    const world = new AgentWorld();
    world.write('work/AGENTS.md', 'root');
    expect(await blockOf(world)).toBe(
      `# AGENTS.md instructions for ${world.cwd}\n\n<INSTRUCTIONS>\nroot\n</INSTRUCTIONS>`,
    );
  });

  it('of the person is the override where that says anything', async () => {
    const world = new AgentWorld();
    world.write('home/AGENTS.md', 'mine');
    world.write('home/AGENTS.override.md', '\n');
    expect(await blockOf(world)).toContain('mine');
    world.write('home/AGENTS.override.md', 'instead');
    expect(await blockOf(world)).toContain('<INSTRUCTIONS>\ninstead\n</INSTRUCTIONS>');
  });

  it('above the root of the project, and outside a project above the working directory, is not read', async () => {
    const world = new AgentWorld();
    world.write('AGENTS.md', 'above');
    world.write('work/sub/x', '');
    world.write('work/AGENTS.md', 'parent');
    expect(await blockOf(world, [], `${world.cwd}/sub`)).toBe('');
  });

  it('over the budget keeps the nearest files whole and cuts the farthest', async () => {
    const world = new AgentWorld();
    const cwd = project(world);
    const names = 'project_doc_fallback_filenames=["NOTES.md"]';
    expect(await blockOf(world, [names, 'project_doc_max_bytes=17'], cwd)).toContain('\nro\n\nfallback\n\nnearest\n');
    expect(await blockOf(world, [names, 'project_doc_max_bytes=7'], cwd)).toContain('<INSTRUCTIONS>\nnearest\n</');
    expect(await blockOf(world, [names, 'project_doc_max_bytes=0'], cwd)).toBe('');
  });

  it('is cut between characters', async () => {
    const world = new AgentWorld();
    world.write('work/AGENTS.md', 'aé漢🙂');
    const cut = async (bytes: number) =>
      /<INSTRUCTIONS>\n(.*)\n</.exec(await blockOf(world, [`project_doc_max_bytes=${bytes}`]))?.[1];
    expect([await cut(2), await cut(4), await cut(5), await cut(9), await cut(10)]).toEqual([
      'a',
      'aé',
      'aé',
      'aé漢',
      'aé漢🙂',
    ]);
  });

  it('that cannot be read is told to the log and does not stop the turn', async () => {
    const world = new AgentWorld();
    world.write('work/AGENTS.md/x', '');
    world.write('home/AGENTS.md', 'mine');
    expect(await blockOf(world)).toContain('<INSTRUCTIONS>\nmine\n</INSTRUCTIONS>');
  });
});

describe('the record of a turn', () => {
  it('has its lines in the order of the first turn', async () => {
    const world = new AgentWorld([[{ shell: 'true', id: 'c' }], [{ say: 'hi' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'p');
    const lines = readFileSync(thread.settings.rollout_path ?? '', 'utf8')
      .trim()
      .split('\n');
    const kinds = lines.map(line => {
      const { type, payload } = JSON.parse(line) as { type: string; payload: { type?: string; role?: string } };
      return [type, payload.type, payload.role].filter(Boolean).join(' ');
    });
    expect(kinds.filter(kind => !kind.startsWith('interpreter'))).toEqual([
      'session_meta',
      'turn_context',
      'event_msg task_started',
      'response_item message developer',
      'response_item message user',
      'world_state',
      'response_item message user',
      'event_msg item_completed',
      'response_item function_call',
      'event_msg item_completed',
      'response_item function_call_output',
      'event_msg token_count',
      'event_msg item_completed',
      'response_item message assistant',
      'event_msg token_count',
      'event_msg task_complete',
    ]);
  });
});
