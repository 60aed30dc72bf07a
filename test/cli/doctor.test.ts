import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { doctorCommand } from '../../src/cli/doctor-command.js';
import { parseOverride } from '../../src/config/index.js';
import { sse, startModelServer } from '../support/model-server.js';
import { describeIf } from '../support/requires.js';

type Found = { ok: boolean; checks: { id: string; status: string; detail: string; fix?: string }[] };

let root: string;
let env: Record<string, string>;
beforeEach(() => {
  root = realpathSync(mkdtempSync('/var/tmp/doctor-test-'));
  const home = join(root, 'home');
  mkdirSync(home);
  chmodSync(home, 0o700);
  mkdirSync(join(root, 'work'));
  env = { PATH: process.env.PATH ?? '', HOME: root, INTERPRETER_HOME: home, OPENAI_API_KEY: 'a-key' };
});

function config(text: string): void {
  writeFileSync(join(root, 'home', 'config.toml'), text);
}

async function doctor({ online = false, overrides = [] as string[] } = {}) {
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  let out = '';
  const work = join(root, 'work');
  const load = {
    env,
    process_cwd: work,
    front_door: 'mcp-server' as const,
    overrides: overrides.map(text => parseOverride(text, '-c')),
  };
  const output = { out: (text: string) => void (out += text), err: expect.unreachable };
  const status = await doctorCommand({ load, online, json: true, colors: false }, output);
  let text = '';
  const printed = { out: (piece: string) => void (text += piece), err: expect.unreachable };
  await doctorCommand({ load, online: false, json: false, colors: false }, printed);
  const found = JSON.parse(out) as Found;
  return { status, text, found, check: (id: string) => found.checks.find(check => check.id === id) };
}

describeIf('bubblewrap', 'the doctor', () => {
  it('finds a machine that is well', async () => {
    const { status, found, text } = await doctor();
    expect(found.checks.filter(check => check.status !== 'ok')).toEqual([]);
    expect(found.checks.map(check => check.id)).toEqual([
      'node',
      'shell',
      'home',
      'config',
      'credentials',
      'model',
      'sandbox',
      'sandbox workspace-write',
      'git',
      'rg',
    ]);
    expect(status).toBe(0);
    expect(text).toMatch(/Turns can be run here\.\n$/);
  });

  it('tries the sandbox itself: what keeps it from being made fails, with its fix', async () => {
    writeFileSync(join(root, 'home', 'state'), 'in the way');
    const { status, check } = await doctor();
    expect(status).toBe(1);
    expect(check('sandbox')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('Cannot enforce sandbox mode read-only'),
      fix: expect.stringContaining('INTERPRETER_HOME'),
    });
    expect(check('sandbox workspace-write')?.status).toBe('warn');
  });

  it('says what is missing on a machine without programs', async () => {
    env.PATH = join(root, 'empty');
    mkdirSync(env.PATH);
    const { status, check } = await doctor();
    expect(status).toBe(1);
    expect(check('sandbox')).toMatchObject({
      status: 'fail',
      detail: 'Cannot enforce sandbox mode read-only: bubblewrap (bwrap) was not found. Nothing was run.',
      fix: expect.stringContaining('install bubblewrap'),
    });
    expect(check('git')).toMatchObject({ status: 'warn', fix: 'Install git.' });
    const without = await doctor({ overrides: ['sandbox_mode="danger-full-access"'] });
    expect(without.status).toBe(0);
  });

  it('needs no sandbox where none is in force', async () => {
    config('sandbox_mode = "danger-full-access"');
    const { check } = await doctor();
    expect(check('sandbox')?.detail).toContain('without a sandbox');
  });
});

describe('what fails', () => {
  it('a missing key: exit 1, and the line says the variable and the command that stores one', async () => {
    delete env.OPENAI_API_KEY;
    const { status, check, text } = await doctor();
    expect(status).toBe(1);
    expect(check('credentials')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('OPENAI_API_KEY'),
      fix: expect.stringContaining('interpreter login openai'),
    });
    expect(text).toMatch(/fail +credentials .*\n +→ Set that variable/);
    expect(text).toMatch(/Turns would fail here\.\n$/);
  });

  it('a faulty configuration: the place is named, the rest is still looked at', async () => {
    config('model = 3');
    const { status, check } = await doctor();
    expect(status).toBe(1);
    expect(check('config')?.detail).toContain('config.toml:1');
    expect(check('sandbox')?.status).toBe('skipped');
    expect(check('node')?.status).toBe('ok');
  });

  it('a home that is none', async () => {
    env.INTERPRETER_HOME = join(root, 'nowhere');
    const { status, check } = await doctor();
    expect(status).toBe(1);
    expect(check('home')).toMatchObject({ status: 'fail', detail: expect.stringContaining('nowhere') });
  });

  it('a home that others may change, a model that nobody knows: turns work, so exit 0', async () => {
    chmodSync(join(root, 'home'), 0o777);
    const { status, check } = await doctor({
      overrides: ['model="nobody-knows"', 'sandbox_mode="danger-full-access"'],
    });
    expect(check('home')).toMatchObject({ status: 'warn', fix: `Run: chmod go-w ${join(root, 'home')}` });
    expect(check('model')?.status).toBe('warn');
    expect(status).toBe(0);
    const told = await doctor({ overrides: ['model="nobody-knows"', 'model_context_window=64000'] });
    expect(told.check('model')).toMatchObject({ status: 'ok', detail: expect.stringContaining('64000 tokens') });
  });
});

describe('with --online', () => {
  async function server(reply: Parameters<Awaited<ReturnType<typeof startModelServer>>['reply']>[0]) {
    const model = await startModelServer();
    onTestFinished(() => model.close());
    model.reply(reply);
    return model;
  }

  it('the model is asked for one word', async () => {
    const item = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] };
    const model = await server({
      stream: [
        sse({ type: 'response.output_item.done', output_index: 0, item }),
        sse({ type: 'response.completed', response: { id: 'r', output: [item] } }),
      ],
    });
    const { check } = await doctor({ online: true, overrides: [`openai_base_url="${model.url}"`] });
    expect(check('provider')?.status).toBe('ok');
    expect(model.requests[0]?.headers.authorization).toBe('Bearer a-key');
  });

  it('a refused key fails at once, without a second try', async () => {
    const model = await server({ status: 401, body: { error: { message: 'bad key' } } });
    const { status, check } = await doctor({ online: true, overrides: [`openai_base_url="${model.url}"`] });
    expect(status).toBe(1);
    expect(check('provider')).toMatchObject({ status: 'fail', fix: expect.stringContaining('interpreter login') });
    expect(model.requests).toHaveLength(1);
  });

  it('a service that is not there', async () => {
    const model = await server('silence');
    await model.close();
    const { check } = await doctor({ online: true, overrides: [`openai_base_url="${model.url}"`] });
    expect(check('provider')).toMatchObject({ status: 'fail', fix: expect.stringContaining('base_url') });
  });
});
