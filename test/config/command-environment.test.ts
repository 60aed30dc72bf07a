import { describe, expect, test } from 'vitest';
import { commandEnvironment } from '../../src/config/index.js';
import { World } from './world.js';

const ENV = {
  PATH: '/bin',
  HOME: '/h',
  Lang: 'pl',
  EDITOR: 'vi',
  MY_TOKEN: 't',
  apikey: 'k',
  DB_SECRET_X: 's',
  OWN: 'o',
  OPENAI_IDENTITY_TOKEN_FILE: 'f',
  UNSET: undefined,
};
const ADDED = {
  NO_COLOR: '1',
  TERM: 'dumb',
  LANG: 'C.UTF-8',
  LC_CTYPE: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  COLORTERM: '',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  CODEX_CI: '1',
  CODEX_THREAD_ID: 'thread',
  CODEX_SESSION_ID: 'thread',
};

function environment(policy: string, more = {}) {
  const world = new World();
  world.config(`[shell_environment_policy]\n${policy}\n`);
  return commandEnvironment(world.load().shell_environment, ENV, { threadId: 'thread', dropNames: ['OWN'], ...more });
}

describe('the environment of commands', () => {
  test.each([
    ['', { PATH: '/bin', HOME: '/h', Lang: 'pl', EDITOR: 'vi' }],
    ['inherit = "core"', { PATH: '/bin', HOME: '/h', Lang: 'pl' }],
    ['inherit = "none"', {}],
    [
      'ignore_default_excludes = true',
      { PATH: '/bin', HOME: '/h', Lang: 'pl', EDITOR: 'vi', MY_TOKEN: 't', apikey: 'k', DB_SECRET_X: 's' },
    ],
    ['exclude = ["h*", "ed?tor", "[l-m]ang"]', { PATH: '/bin' }],
    ['exclude = ["[!p]*"]', { PATH: '/bin' }],
    ['exclude = ["[", "[z-a]", "*"]', {}],
    [
      'set = { A = "1", MY_TOKEN = "mine" }',
      { PATH: '/bin', HOME: '/h', Lang: 'pl', EDITOR: 'vi', A: '1', MY_TOKEN: 'mine' },
    ],
    ['include_only = ["P*"]\nset = { PX = "1", A = "2" }', { PATH: '/bin', PX: '1' }],
    ['filters = { "P*" = "include", "*X" = "exclude" }\nset = { PX = "1" }', { PATH: '/bin', PX: '1' }],
    ['inherit = "none"\nset = { TERM = "xterm" }', {}],
  ])('%j', (policy, expected) => {
    expect(environment(policy)).toEqual({ ...expected, ...ADDED });
  });

  test('folders are added behind an existing PATH', () => {
    expect(environment('', { extraPath: ['/rg'] })['PATH']).toBe('/bin:/rg');
    expect(environment('inherit = "none"', { extraPath: ['/rg'] })).not.toHaveProperty('PATH');
  });

  test('programs are told when there is no network', () => {
    expect(environment('inherit = "none"', { networkDisabled: true })).toEqual({
      ...ADDED,
      CODEX_SANDBOX_NETWORK_DISABLED: '1',
    });
  });
});
