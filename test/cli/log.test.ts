import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLog } from '../../src/cli/log.js';
import { LogFile, logFiles } from '../../src/cli/log-file.js';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'log-test-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function logOf(env: Record<string, string>) {
  const lines: string[] = [];
  return { log: createLog(env, text => lines.push(text)), lines };
}

describe('the log on stderr', () => {
  it('shows warnings by default, and what INTERPRETER_LOG names', () => {
    const { log, lines } = logOf({});
    log('warn', 'seen');
    log('info', 'not seen');
    const all = logOf({ INTERPRETER_LOG: 'TRACE' });
    all.log('trace', 'seen');
    const odd = logOf({ INTERPRETER_LOG: 'nonsense' });
    odd.log('info', 'not seen');
    expect([lines.length, all.lines.length, odd.lines.length]).toEqual([1, 1, 0]);
  });

  it('names thread and turn in each line, of many lines too, and no secret', () => {
    const { log, lines } = logOf({ MY_TOKEN: 'very-secret-value' });
    log('error', 'first very-secret-value\nsecond', { thread: 'th', turn: 'tu' });
    log('warn', 'about nothing');
    const start = /^\d{4}-\d\d-\d\dT[\d:.]+Z /;
    expect(
      lines
        .join('')
        .split('\n')
        .map(line => line.replace(start, '')),
    ).toEqual([
      'error thread=th turn=tu first [REDACTED]',
      'error thread=th turn=tu second',
      'warn thread=- turn=- about nothing',
      '',
    ]);
  });
});

describe('log files', () => {
  it('get lines from info on while stderr stays quiet, for the person alone', () => {
    const dir = join(folder(), 'made', 'when-needed');
    const { log, lines } = logOf({});
    log.keepIn(dir);
    log('info', 'course of a turn', { thread: 'a', turn: 'b' });
    log('debug', 'too much');
    const [file = ''] = logFiles(dir);
    expect(readFileSync(file, 'utf8')).toMatch(/^\S+ info thread=a turn=b course of a turn\n$/);
    expect(lines).toEqual([]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('are followed by a new one when they are full, and the oldest of the folder go', () => {
    const dir = folder();
    for (let day = 1; day <= 5; day++) {
      const name = join(dir, `interpreter-2020010${day}T000000-1.log`);
      writeFileSync(name, 'old');
      utimesSync(name, day, day);
    }
    writeFileSync(join(dir, 'notes.txt'), 'not ours');
    const file = new LogFile({
      folder: dir,
      maxBytes: 10,
      keep: 4,
      onProblem: problem => expect.unreachable(String(problem)),
    });
    for (const text of ['one 56789\n', 'two 56789\n', 'three\n']) file.write(text);
    file.close();
    const names = readdirSync(dir).sort();
    expect(
      names
        .filter(name => name.includes(`-${process.pid}`))
        .map(name => readFileSync(join(dir, name), 'utf8'))
        .sort(),
    ).toEqual(['one 56789\n', 'three\n', 'two 56789\n']);
    expect(names.filter(name => name.startsWith('interpreter-2020'))).toEqual(['interpreter-20200105T000000-1.log']);
    expect(names).toContain('notes.txt');
  });

  it('that can not be written are told once, and nothing else happens', () => {
    const dir = join(folder(), 'file');
    mkdirSync(dir);
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'in the way');
    chmodSync(dir, 0o600);
    const { log, lines } = logOf({});
    log.keepIn(dir);
    log('warn', 'one');
    log('warn', 'two');
    expect(lines.map(line => line.replace(/^.*turn=- /, ''))).toEqual([
      'one\n',
      expect.stringContaining(`Log files in ${dir} can't be written`),
      'two\n',
    ]);
  });
});
