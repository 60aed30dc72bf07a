import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { World } from './world.js';

const WORKSPACE = {
  type: 'workspace-write',
  writable_roots: [],
  network_access: false,
  exclude_tmpdir_env_var: false,
  exclude_slash_tmp: false,
  allow_unix_sockets: false,
};

describe('without a choice', () => {
  test.each([
    { entry: null, git: false, approval: 'on-request', sandbox: 'read-only' },
    { entry: null, git: true, approval: 'on-request', sandbox: 'workspace-write' },
    { entry: 'trusted', git: false, approval: 'on-request', sandbox: 'workspace-write' },
    { entry: 'untrusted', git: true, approval: 'untrusted', sandbox: 'workspace-write' },
  ])('entry $entry, git $git: $approval, $sandbox', ({ entry, git, approval, sandbox }) => {
    const world = new World();
    if (git) world.write('work/.git', 'whatever');
    mkdirSync(`${world.cwd}/sub`);
    if (entry !== null) world.config(`[projects.${JSON.stringify(`${world.cwd}/sub`)}]\ntrust_level = "${entry}"\n`);
    expect(world.load({ cwd: 'sub' })).toMatchObject({
      approval_policy: approval,
      sandbox_policy: { type: sandbox },
      defaulted: { approval_policy: true, sandbox_policy: true },
    });
  });

  test('exec never asks, whatever is configured, unless somebody can be asked', () => {
    const world = new World();
    world.config('approval_policy = "untrusted"\n');
    expect(world.load({ front_door: 'exec' })).toMatchObject({
      approval_policy: 'never',
      defaulted: { approval_policy: true },
    });
    expect(world.load({ front_door: 'exec', can_ask: true }).approval_policy).toBe('untrusted');
    expect(world.load({ front_door: 'exec', arguments: { approval_policy: 'on-request' } }).approval_policy).toBe(
      'on-request',
    );
  });
});

describe('a choice', () => {
  test.each([
    ['untrusted', 'untrusted'],
    ['on-request', 'on-request'],
    ['on-failure', 'on-request'],
    ['never', 'never'],
  ])('of the approval policy %s, in a file or as an argument', (name, policy) => {
    const world = new World();
    world.config(`approval_policy = "${name}"\n`);
    expect(world.load()).toMatchObject({ approval_policy: policy, defaulted: { approval_policy: false } });
    expect(world.load({ ignore_user_config: true, arguments: { approval_policy: name } }).approval_policy).toBe(policy);
  });

  test('of the sandbox as an argument takes the details of the file', () => {
    const world = new World();
    world.config('sandbox_mode = "danger-full-access"\n[sandbox_workspace_write]\nnetwork_access = true\n');
    expect(world.load().sandbox_policy).toEqual({ type: 'danger-full-access' });
    const given = world.load({ arguments: { sandbox: 'workspace-write', writable_roots: ['x', '/y'] } });
    expect(given).toMatchObject({ defaulted: { sandbox_policy: false } });
    expect(given.sandbox_policy).toEqual({
      ...WORKSPACE,
      network_access: true,
      writable_roots: [`${world.cwd}/x`, '/y'],
    });
  });

  test('of further writable folders in read-only is told to be without effect', () => {
    const config = new World().load({ arguments: { sandbox: 'read-only', writable_roots: ['x'] } });
    expect(config.warnings).toEqual([
      'Further writable folders have no effect in the sandbox mode read-only; use workspace-write.',
    ]);
  });
});

describe('permission profiles', () => {
  const profile = (world: World, text: string, more = {}) => {
    world.config(`default_permissions = "p"\n${text}`);
    return world.load({ env: { TMPDIR: '/var/tmpdir' }, ...more }).sandbox_policy;
  };
  const path = (name: string, access: string) => ({ access, target: { path: name } });

  test.each([
    [':read-only', { type: 'read-only' }],
    [':workspace', WORKSPACE],
    [':danger-full-access', { type: 'danger-full-access' }],
  ])('%s is the sandbox mode of that name', (name, policy) => {
    const world = new World();
    expect(world.load({ c: [`default_permissions="${name}"`] }).sandbox_policy).toEqual(policy);
    expect(world.load({ arguments: { permission_profile: name } }).sandbox_policy).toEqual(policy);
  });

  test('special names become paths, relative ones belong to the file, globs keep their base', () => {
    const world = new World();
    const policy = profile(
      world,
      `[permissions.p.filesystem]
":root" = "read"
":slash_tmp" = "write"
":tmpdir" = "write"
":workspace_roots" = { "." = "write", "secrets" = "deny", "**/*.env" = "deny" }
"~/.ssh" = "deny"
"rel" = "read"
"/srv/*/private" = "deny"
glob_scan_max_depth = 3
[permissions.p.workspace_roots]
"/other" = true
"/off" = false
`,
    );
    expect(policy).toEqual({
      type: 'profile',
      name: 'p',
      filesystem: [
        path('/', 'read'),
        path('/tmp', 'write'),
        path('/var/tmpdir', 'write'),
        path(world.cwd, 'write'),
        path(`${world.cwd}/secrets`, 'deny'),
        { access: 'deny', target: { glob: '**/*.env', base: world.cwd, max_depth: 3 } },
        path('/other', 'write'),
        path('/other/secrets', 'deny'),
        { access: 'deny', target: { glob: '**/*.env', base: '/other', max_depth: 3 } },
        path(`${world.user}/.ssh`, 'deny'),
        path(`${world.home}/rel`, 'read'),
        { access: 'deny', target: { glob: '*/private', base: '/srv', max_depth: 3 } },
      ],
      network: { type: 'off' },
      allow_unix_sockets: false,
    });
  });

  test('a profile extends another one and corrects it', () => {
    const world = new World();
    const policy = profile(
      world,
      `[permissions.base]
extends = ":workspace"
filesystem = { "/data" = "read" }
network = { enabled = true, domains = { "a.example" = "allow", "*.b.example" = "allow" } }
[permissions.p]
extends = "base"
filesystem = { "/data" = "write", "/tmp" = "deny" }
network.domains = { "a.example" = "deny" }
`,
    );
    expect(policy).toMatchObject({
      filesystem: [
        path('/', 'read'),
        path(world.cwd, 'write'),
        path('/tmp', 'deny'),
        path('/var/tmpdir', 'write'),
        path('/data', 'write'),
      ],
      network: { type: 'domains', allow: ['*.b.example'], deny: ['a.example'] },
    });
  });

  test('the network of a profile is off, on, or some domains', () => {
    const world = new World();
    expect(profile(world, '[permissions.p.network]\nenabled = true\n')).toMatchObject({ network: { type: 'on' } });
    expect(profile(world, '[permissions.p.network]\ndomains = { "a" = "allow" }\n')).toMatchObject({
      network: { type: 'off' },
    });
    expect(profile(world, '[permissions.p]\nextends = ":danger-full-access"\n')).toMatchObject({
      network: { type: 'on' },
      filesystem: [path('/', 'write')],
    });
  });

  test('a sandbox mode switches default_permissions off, -P switches the mode off', () => {
    const world = new World();
    world.config(
      'sandbox_mode = "read-only"\ndefault_permissions = "p"\n[permissions.p.filesystem]\n":root" = "write"\n',
    );
    expect(world.load().sandbox_policy).toEqual({ type: 'read-only' });
    expect(world.load({ arguments: { permission_profile: 'p' } }).sandbox_policy).toMatchObject({ type: 'profile' });
  });

  test('a profile given on the command line alone', () => {
    const world = new World();
    const config = world.load({
      arguments: { permission_profile: 'esc', writable_roots: ['more'] },
      c: ['permissions.esc.filesystem={":root"="read",":workspace_roots"={"."="write"},"/secret"="deny"}'],
    });
    expect(config.sandbox_policy).toMatchObject({
      filesystem: [
        path('/', 'read'),
        path(world.cwd, 'write'),
        path(`${world.cwd}/more`, 'write'),
        path('/secret', 'deny'),
      ],
    });
  });

  test.each([
    [
      'default_permissions = "q"\n[permissions.p]\n',
      '~/home/config.toml:1:23: The permission profile `q` does not exist.',
    ],
    [
      'default_permissions = "p"\n[permissions.p]\nextends = "p"\n',
      '~/home/config.toml:3:11: the permission profile `p` extends itself',
    ],
    [
      'default_permissions = "p"\n[permissions.p]\nextends = ":workspce"\n',
      '~/home/config.toml:3:11: The permission profile `:workspce` does not exist. Did you mean `:workspace`?',
    ],
    [
      '[permissions.p.filesystem]\nglob_scan_max_depth = 0\n',
      '~/home/config.toml:2:23: the number `0` is less than 1 in `permissions.p.filesystem.glob_scan_max_depth`',
    ],
    [
      '[permissions.p.filesystem]\n"/a" = "rw"\n',
      '~/home/config.toml:2:8: unknown value `rw`, expected one of `read`, `write`, `deny`, or a table',
    ],
  ])('%j is a mistake with its place', (text, message) => {
    const world = new World();
    world.config(text);
    expect(world.failure()).toContain(message);
  });
});
