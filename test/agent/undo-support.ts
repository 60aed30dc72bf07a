/** Workspaces under git for the tests of undo. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { type UndoOptions, type UndoReport, undoThread } from '../../src/agent/index.js';
import { AgentWorld } from '../support/agent-world.js';
import type { ModelAnswerScript } from '../support/scripted-provider.js';

export class UndoWorld extends AgentWorld {
  constructor(answers: readonly ModelAnswerScript[] = []) {
    super(answers);
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.email', 'a@example.org');
    this.git('config', 'user.name', 'A');
    this.write('home/config.toml', '[features]\nundo = true\n');
  }

  git(...args: string[]): string {
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.user, GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', args, { cwd: this.cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  commit(): void {
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'c');
  }

  undo(threadId: string, options: Partial<UndoOptions> = {}): Promise<UndoReport> {
    const warn = (text: string) => void this.log.push(text);
    return undoThread({ home: this.home, threadId, runner: this.sandbox, env: this.env(), warn, ...options });
  }

  /** Every file of the workspace but those of git: permissions to execute and content, `->` and the target of a link. */
  files(folder = this.cwd): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(folder, 'buffer')) {
      const file = Buffer.concat([Buffer.from(`${folder}/`), name]);
      const stats = lstatSync(file);
      const key = path.relative(this.cwd, file.toString());
      if (name.toString() === '.git') continue;
      if (stats.isSymbolicLink()) found[key] = `-> ${readlinkSync(file).toString()}`;
      else if (stats.isDirectory()) Object.assign(found, this.files(file.toString()));
      else found[key] = `${stats.mode & 0o100 ? 'x ' : ''}${readFileSync(file, 'latin1')}`;
    }
    return found;
  }

  /** What must never change: branches, the index, the stash, what git thinks of the work tree. */
  gitState(): string[] {
    const index = path.join(this.cwd, '.git', 'index');
    return [
      this.git('for-each-ref', 'refs/heads', 'refs/tags', 'refs/stash'),
      this.git('ls-files', '--stage'),
      existsSync(index) ? readFileSync(index).toString('base64') : '',
    ];
  }

  snapshots(): string[] {
    return this.git('for-each-ref', '--format=%(refname)', 'refs/open-interpreter').split('\n').filter(Boolean);
  }
}

/** What a report says was done, by path. */
export function doneIn(report: UndoReport): Record<string, string> {
  if (report.type === 'refused') throw new Error(report.message);
  return Object.fromEntries(
    report.files.map(file => [file.path, file.reason === undefined ? file.done : `${file.done}: ${file.reason}`]),
  );
}
