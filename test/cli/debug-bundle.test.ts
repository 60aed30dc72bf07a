import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseTarGzip } from 'nanotar';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bundleCommand } from '../../src/cli/debug-command.js';

const ID = '01a227ca-0000-7000-8000-000000000001';
const KEY = 'sk-proj-Aa11Bb22Cc33Dd44Ee55Ff66';
const SECRETS = [KEY, 'value-of-a-header', 'plain-secret-value'];

let root: string;
let env: Record<string, string>;
beforeEach(() => {
  root = realpathSync(mkdtempSync('/var/tmp/bundle-test-'));
  const home = join(root, 'home');
  mkdirSync(join(home, 'sessions/2026/11/29'), { recursive: true });
  mkdirSync(join(home, 'logs'));
  env = { PATH: process.env.PATH ?? '', HOME: root, INTERPRETER_HOME: home, MY_SECRET: 'plain-secret-value' };
  writeFileSync(
    join(home, 'config.toml'),
    `log_dir = "logs"
sandbox_mode = "danger-full-access"
model_provider = "own"
[model_providers.own]
base_url = "http://127.0.0.1:1/v1"
experimental_bearer_token = "${KEY}"
http_headers = { "x-token" = "value-of-a-header" }
`,
  );
  writeFileSync(
    join(home, 'logs', 'interpreter-20261129T120000-7.log'),
    `a line with plain-secret-value in ${root}/x\n`,
  );
  writeFileSync(join(home, 'logs', 'private.txt'), 'not a log of ours');
  const line = (type: string, payload: object) => JSON.stringify({ timestamp: '2026-11-29T12:00:00Z', type, payload });
  const call = { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"deploy it"}' };
  writeFileSync(
    join(home, `sessions/2026/11/29/rollout-2026-11-29T12-00-00-${ID}.jsonl`),
    [
      line('session_meta', { id: ID, cwd: `${root}/work`, source: 'mcp', model_provider: 'own' }),
      line('event_msg', { type: 'task_started', turn_id: 't1', started_at: 1 }),
      line('response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: `my private words and ${KEY}` }],
      }),
      line('response_item', call),
      line('event_msg', { type: 'token_count', info: { total_token_usage: { total_tokens: 123456 } } }),
      '{"torn private',
      '',
    ].join('\n'),
  );
});

type Options = Partial<Omit<Parameters<typeof bundleCommand>[0], 'load'>>;

async function bundle(options: Options = {}) {
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const asked: string[] = [];
  let out = '';
  let err = '';
  const file = join(root, 'bundle.tar.gz');
  const status = await bundleCommand(
    {
      load: { env, process_cwd: root, front_door: 'mcp-server' },
      thread: 'latest',
      texts: false,
      online: false,
      output: file,
      confirm: async question => {
        // What is in it was said before.
        asked.push(question, out);
        return true;
      },
      ...options,
    },
    { out: text => void (out += text), err: text => void (err += text) },
  );
  const written = status === 0 ? await parseTarGzip(readFileSync(file)) : [];
  const files = Object.fromEntries(written.map(({ name, text }) => [name.replace('interpreter-debug/', ''), text]));
  return { status, out, err, asked, file, files, all: written.map(({ text }) => text).join('\n') };
}

describe('a bundle', () => {
  it('says what it holds, asks, and is for the person alone', async () => {
    const { status, asked, file, files } = await bundle();
    expect(status).toBe(0);
    expect(asked[0]).toBe(`Write ${file}?`);
    for (const name of Object.keys(files)) expect(asked[1]).toContain(name);
    expect(Object.keys(files)).toEqual([
      'about.txt',
      'config.txt',
      'doctor.txt',
      'logs/interpreter-20261129T120000-7.log',
      'thread.jsonl',
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('holds no secret, no name of a person in paths, and the words of nobody', async () => {
    const { all, files } = await bundle();
    expect(SECRETS.filter(secret => all.includes(secret))).toEqual([]);
    expect(all).not.toContain(root);
    expect(all).not.toMatch(/private|deploy/);
    expect(files['config.txt']).toContain('model_provider = "own"');
    expect(files['doctor.txt']).toContain('credentials');
    expect(files['about.txt']).toContain('INTERPRETER_HOME');
  });

  it('keeps the course of the thread, in lines that still are JSON', async () => {
    const { files } = await bundle();
    const lines = (files['thread.jsonl'] ?? '')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines.map(({ type, payload }) => [type, payload?.type ?? null])).toEqual([
      ['session_meta', null],
      ['event_msg', 'task_started'],
      ['response_item', 'message'],
      ['response_item', 'function_call'],
      ['event_msg', 'token_count'],
      ['damaged', null],
    ]);
    expect(lines[3].payload).toEqual({
      type: 'function_call',
      call_id: 'c1',
      name: 'exec_command',
      arguments: '[19 characters]',
    });
    expect(lines[4].payload.info.total_token_usage.total_tokens).toBe(123456);
  });

  it('keeps the words where that is asked for, and still no key', async () => {
    const { files } = await bundle({ texts: true });
    expect(files['thread.jsonl']).toContain('my private words and [REDACTED]');
    expect(files['thread.jsonl']).toContain('deploy it');
  });

  it('holds the thread that is named, or none', async () => {
    expect(Object.keys((await bundle({ thread: ID.slice(0, 8) })).files)).toContain('thread.jsonl');
    rmSync(join(root, 'bundle.tar.gz'));
    expect(Object.keys((await bundle({ thread: null })).files)).not.toContain('thread.jsonl');
    rmSync(join(root, 'bundle.tar.gz'));
    const missing = await bundle({ thread: 'ffff' });
    expect([missing.status, missing.files]).toEqual([1, {}]);
    expect(missing.err).toContain('ffff');
  });

  it('is made of a faulty configuration too, which it tells', async () => {
    writeFileSync(join(root, 'home', 'config.toml'), 'model = 3');
    const { status, files } = await bundle();
    expect(status).toBe(0);
    expect(files['config.txt']).toContain("can't be read");
    expect(files['doctor.txt']).toContain('config.toml:1');
  });
});

it('nothing is written when the answer is no, and nothing is written over', async () => {
  const refused = await bundle({ confirm: () => Promise.resolve(false) });
  expect([refused.status, existsSync(refused.file)]).toEqual([1, false]);
  writeFileSync(refused.file, 'precious');
  const { status, err } = await bundle();
  expect(status).toBe(1);
  expect(readFileSync(refused.file, 'utf8')).toBe('precious');
  expect(err).toContain('exist');
});
