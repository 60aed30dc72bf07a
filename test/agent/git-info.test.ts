import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readRollout } from '../../src/rollout/index.js';
import { AgentWorld, runTurn } from '../support/agent-world.js';

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8' }).trim();
}

/** What the record of a new thread in this folder says of its repository. */
async function recordedGit(world: AgentWorld, cwd: string) {
  const thread = await world.thread({ cwd });
  await runTurn(thread, 'hello');
  return (await readRollout(world.home, thread.settings.rollout_path ?? '')).meta.git;
}

test('the record of a thread names branch, commit and origin, without the password of the origin', async () => {
  const world = new AgentWorld();
  git(world.cwd, 'init', '-q', '-b', 'feature/x');
  git(world.cwd, 'commit', '-q', '--allow-empty', '-m', 'one');
  git(world.cwd, 'remote', 'add', 'origin', 'https://me:secret@example.com/a/b.git');
  const commit_hash = git(world.cwd, 'rev-parse', 'HEAD');
  const expected = { branch: 'feature/x', commit_hash, repository_url: 'https://example.com/a/b.git' };
  expect(await recordedGit(world, world.cwd)).toEqual(expected);
  git(world.cwd, 'pack-refs', '--all');
  expect(await recordedGit(world, world.cwd)).toEqual(expected);
});

test('linked work trees and detached heads are read too', async () => {
  const world = new AgentWorld();
  git(world.cwd, 'init', '-q', '-b', 'main');
  git(world.cwd, 'commit', '-q', '--allow-empty', '-m', 'one');
  const commit_hash = git(world.cwd, 'rev-parse', 'HEAD');
  const linked = path.join(world.root, 'linked');
  git(world.cwd, 'worktree', 'add', '-q', '-b', 'side', linked);
  expect(await recordedGit(world, linked)).toEqual({ branch: 'side', commit_hash });
  git(linked, 'checkout', '-q', '--detach');
  expect(await recordedGit(world, linked)).toEqual({ commit_hash });
});

test('a folder outside of a work tree has no repository', async () => {
  const world = new AgentWorld();
  expect(await recordedGit(world, world.cwd)).toBeNull();
});
