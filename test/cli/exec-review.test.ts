/** `exec review`: what the model gets to see, and that the repository runs nothing. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ExecWorld } from '../support/exec-world.js';
import { describeIf } from '../support/requires.js';
import { answer } from '../support/scripted-answers.js';

const ID = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false'];

/** A repository with one commit on `main`, one more on `topic`, and changes that are in none. */
async function repository() {
  const world = await ExecWorld.create([answer({ say: 'No findings.' })], 'review_model = "gpt-4o"\n');
  const git = (...args: string[]) =>
    execFileSync('git', [...ID, ...args], { cwd: world.cwd, encoding: 'utf8', env: world.env(), stdio: 'pipe' }).trim();
  git('init', '-q', '-b', 'main');
  world.write('work/a.txt', 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  git('checkout', '-q', '-b', 'topic');
  world.write('work/a.txt', 'one\ntwo\n');
  git('commit', '-q', '-a', '-m', 'second thing');
  const review = async (...args: string[]) => {
    const ran = await world.run(['exec', '--json', 'review', ...args]);
    return { ...ran, prompt: ran.code === 0 ? world.prompt() : '' };
  };
  return { world, git, review };
}

const added = (text: string) => text.split('\n').filter(line => /^\+[^+]/.test(line));

describeIf('bubblewrap', 'in a sandbox', () => {
  describeIf('git', 'a review', () => {
    it('of uncommitted changes shows staged, unstaged and new files, and of links only where they point', async () => {
      const { world, git, review } = await repository();
      world.write('work/staged.txt', 'staged\n');
      git('add', 'staged.txt');
      world.write('work/a.txt', 'one\ntwo\nunstaged\n');
      world.write('work/sub/new file.txt', 'new\n');
      world.write('work/ignored.log', 'log\n');
      world.write('work/.gitignore', '*.log\n');
      world.write('secret.txt', 'SECRET\n');
      symlinkSync(`${world.root}/secret.txt`, `${world.cwd}/link`);
      const { prompt, code } = await review('--uncommitted', 'mind the links');
      expect(code).toBe(0);
      expect(added(prompt).sort((a, b) => (a < b ? -1 : 1))).toEqual([
        '+*.log',
        `+${world.root}/secret.txt`,
        '+new',
        '+staged',
        '+unstaged',
      ]);
      expect(prompt).toContain('untracked\tsub/new file.txt');
      expect(prompt).toContain('mind the links');
      expect(prompt).not.toContain('SECRET');
      expect(world.server.requests[0]?.body['model']).toBe('gpt-4o');
      expect(JSON.stringify(world.server.requests[0]?.body['input'])).toContain('read-only');
    });

    it('against a branch begins where the branches parted', async () => {
      const { world, git, review } = await repository();
      git('checkout', '-q', 'main');
      world.write('work/main.txt', 'later on main\n');
      git('add', '.');
      git('commit', '-q', '-m', 'third');
      git('checkout', '-q', 'topic');
      const { prompt } = await review('--base', 'main');
      expect(added(prompt)).toEqual(['+two']);
      expect(prompt).toContain('since it left main');
    });

    it('of a commit has its title, and the first commit is shown whole', async () => {
      const { git, review } = await repository();
      const { prompt } = await review('--commit', 'HEAD');
      expect(added(prompt)).toEqual(['+two']);
      expect(prompt).toContain('second thing');
      const first = await review('--commit', git('rev-parse', 'main'), '--title', 'My title');
      expect(added(first.prompt)).toEqual(['+one']);
      expect(first.prompt).toContain('My title');
    });

    it('of whatever the prompt says needs no git', async () => {
      const world = await ExecWorld.create([answer({ say: 'ok' })]);
      await world.json(['review', 'look at the error handling']);
      expect(world.prompt()).toContain('look at the error handling');
      expect(world.prompt()).not.toContain('<diff>');
    });

    it('of a repository without a commit shows what is staged', async () => {
      const world = await ExecWorld.create([answer({ say: 'ok' })]);
      execFileSync('git', ['init', '-q'], { cwd: world.cwd, env: world.env() });
      world.write('work/x.txt', 'x\n');
      execFileSync('git', ['add', 'x.txt'], { cwd: world.cwd, env: world.env() });
      await world.run(['exec', 'review', '--uncommitted']);
      expect(added(world.prompt())).toEqual(['+x']);
    });

    it.each([
      [['--base', 'nope'], 'there is no commit or branch nope'],
      [['--commit', '--output=/tmp/x'], 'there is no commit or branch --output=/tmp/x'],
    ])('of %j is an error', async (args, message) => {
      const { review } = await repository();
      expect(await review(...args)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
    });

    it('needs git, and says so', async () => {
      const { world } = await repository();
      mkdirSync(`${world.root}/empty`);
      const ran = await world.run(['exec', '-s', 'danger-full-access', 'review', '--base', 'main'], {
        env: { PATH: `${world.root}/empty` },
      });
      expect(ran).toMatchObject({ code: 1, out: '', err: "Error: git can't be run: git: command not found.\n" });
    });

    it('begins with what is reviewed, which is the title in lists of threads', async () => {
      const { review } = await repository();
      const { prompt } = await review('--commit', 'HEAD', '--title', 'My title');
      expect(prompt).toMatch(/^Review commit [0-9a-f]{12}: My title\.\n/);
    });

    it('runs nothing of the repository', async () => {
      const { world, git } = await repository();
      const program = world.write('evil.sh', `#!/bin/sh\ntouch "${world.cwd}/$1-ran"\ncat\n`);
      chmodSync(program, 0o755);
      const evil = (name: string) => `${program} ${name}`;
      const traps: Record<string, string> = {
        'core.fsmonitor': evil('fsmonitor'),
        'core.pager': evil('pager'),
        'diff.external': evil('external'),
        'diff.trap.textconv': evil('textconv'),
        'diff.trap.command': evil('command'),
        'filter.trap.clean': evil('clean'),
        'filter.trap.smudge': evil('smudge'),
        'filter.trap.process': evil('process'),
        'filter.trap.required': 'true',
        'gpg.program': evil('gpg'),
        'log.showSignature': 'true',
        'core.alternateRefsCommand': evil('refs'),
      };
      for (const [key, value] of Object.entries(traps)) git('config', key, value);
      world.write('work/.gitattributes', '* diff=trap filter=trap\n');
      mkdirSync(`${world.cwd}/.git/hooks`, { recursive: true });
      for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction']) {
        writeFileSync(`${world.cwd}/.git/hooks/${hook}`, `#!/bin/sh\ntouch ${world.cwd}/${hook}-ran\n`, {
          mode: 0o755,
        });
      }
      world.write('work/a.txt', 'one\ntwo\nchanged\n');
      for (const args of [['--uncommitted'], ['--base', 'main'], ['--commit', 'HEAD']]) {
        const env = { GIT_EXTERNAL_DIFF: evil('env'), GIT_PAGER: evil('env') };
        const ran = await world.run(['exec', '--json', '-s', 'danger-full-access', 'review', ...args], { env });
        expect([args, ran.code, ran.err]).toEqual([args, 0, '']);
      }
      expect(added(world.prompt(1))).toContain('+changed');
      const ran = [...Object.values(traps).map(trap => trap.split(' ')[1]), 'env', 'post-index-change'];
      const sprung = () => ran.filter(name => existsSync(`${world.cwd}/${name}-ran`));
      expect(sprung()).toEqual([]);
      // Git as it is used every day steps into them.
      expect(() => git('diff', 'HEAD')).toThrow('evil.sh');
      expect(sprung()).toEqual(expect.arrayContaining(['fsmonitor', 'process']));
    });
  });
});
