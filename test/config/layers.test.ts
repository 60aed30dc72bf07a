import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigCache, flattenCallConfig } from '../../src/config/index.js';
import { type More, World } from './world.js';

describe('precedence', () => {
  /** From the lowest to the highest; each sets the model to its own name. */
  const layers: { name: string; apply: (world: World) => More | string | void }[] = [
    { name: 'default', apply: () => {} },
    { name: 'system', apply: world => world.write('system.toml', 'model = "system"') },
    { name: 'user', apply: world => world.config(`model = "user"\n${world.trust()}`) },
    { name: 'project root', apply: world => project(world, '.', 'project root') },
    { name: 'nearest project', apply: world => project(world, 'sub', 'nearest project') },
    {
      name: 'profile table',
      apply: world => {
        world.config(`model = "user"\n${world.trust()}[profiles.p]\nmodel = "profile table"\n`);
        return { profile: 'p' };
      },
    },
    { name: 'profile file', apply: world => world.write('home/p.config.toml', 'model = "profile file"') },
    { name: 'first -c', apply: () => ({ c: ['model=first -c'] }) },
    { name: 'second -c', apply: () => ({ c: ['model=first -c', 'model="second -c"'] }) },
    { name: 'call config', apply: () => ({ overrides: flattenCallConfig({ model: 'call config' }) }) },
    { name: 'argument', apply: () => ({ arguments: { model: 'argument' } }) },
  ];
  const project = (world: World, folder: string, model: string) => {
    world.write('work/.git/HEAD', '');
    world.write(`work/${folder}/.openinterpreter/config.toml`, `model = "${model}"`);
  };

  test.each(layers.map(({ name }, index) => ({ name, index })))('$name wins over all below it', ({ name, index }) => {
    const world = new World();
    mkdirSync(path.join(world.cwd, 'sub'));
    let more: More = {};
    for (const layer of layers.slice(0, index + 1)) {
      const added = layer.apply(world);
      if (typeof added === 'object') more = { ...more, ...added };
    }
    const expected = name === 'default' ? 'gpt-5.6-terra' : name;
    expect(world.load({ ...more, cwd: 'sub' }).model).toBe(expected);
  });

  test('tables are merged key by key, lists are replaced', () => {
    const world = new World();
    world.write('system.toml', '[sandbox_workspace_write]\nwritable_roots = ["/a"]\nnetwork_access = true\n');
    world.config('sandbox_mode = "workspace-write"\n[sandbox_workspace_write]\nwritable_roots = ["/b", "c", "~/d"]\n');
    expect(world.load().sandbox_policy).toEqual({
      type: 'workspace-write',
      writable_roots: ['/b', path.join(world.home, 'c'), path.join(world.user, 'd')],
      network_access: true,
      exclude_tmpdir_env_var: false,
      exclude_slash_tmp: false,
      allow_unix_sockets: false,
    });
  });

  test('--ignore-user-config leaves the user file out, broken or not', () => {
    const world = new World();
    world.config('model = [');
    expect(world.load({ ignore_user_config: true }).model).toBe('gpt-5.6-terra');
  });

  test('a file that changed is read again through the same cache', () => {
    const world = new World();
    const cache = new ConfigCache();
    world.config('model = "one"');
    expect(world.load({ cache }).model).toBe('one');
    world.config('model = "other"');
    expect(world.load({ cache }).model).toBe('other');
    rmSync(path.join(world.home, 'config.toml'));
    expect(world.load({ cache }).model).toBe('gpt-5.6-terra');
  });

  test('the result is frozen through and through', () => {
    const config = new World().load();
    expect(
      Object.isFrozen(config) && Object.isFrozen(config.features) && Object.isFrozen(config.provider.http_headers),
    ).toBe(true);
  });
});

describe('projects', () => {
  const withProject = (config: string) => {
    const world = new World();
    world.write('work/.git/HEAD', '');
    world.write('work/.openinterpreter/config.toml', 'model = "project"');
    world.config(config);
    return world;
  };

  test('a project without an entry is not used, and one line says how to trust it', () => {
    const world = withProject('model = "user"');
    const config = world.load();
    expect(config).toMatchObject({ model: 'user', trust: null });
    expect(config.warnings).toEqual([
      `${world.cwd}/.openinterpreter/config.toml is not used because the project is not trusted. To use it, add to config.toml in your home: [projects."${world.cwd}"] trust_level = "trusted"`,
    ]);
  });

  test('what stands in the place of the file of a project without an entry stops nobody', () => {
    const world = new World();
    world.write('work/.git/HEAD', '');
    mkdirSync(path.join(world.cwd, '.openinterpreter', 'config.toml'), { recursive: true });
    world.config('model = "user"');
    expect(world.load()).toMatchObject({ model: 'user', trust: null, warnings: [expect.stringContaining('trusted')] });
  });

  test('an untrusted project is not used', () => {
    const world = withProject('');
    world.config(`model = "user"\n[projects.${JSON.stringify(world.cwd)}]\ntrust_level = "untrusted"\n`);
    expect(world.load()).toMatchObject({ model: 'user', trust: 'untrusted', warnings: [] });
  });

  test('trust in the root holds in its folders, also when it is named through a link', () => {
    const world = withProject('');
    symlinkSync(world.cwd, path.join(world.root, 'link'));
    mkdirSync(path.join(world.cwd, 'deep/er'), { recursive: true });
    world.config(world.trust(path.join(world.root, 'link')));
    expect(world.load({ cwd: 'deep/er' })).toMatchObject({ model: 'project', project_root: world.cwd });
  });

  test('trust may come from an override but not from the project itself', () => {
    const world = withProject('');
    world.write('work/.openinterpreter/config.toml', `model = "project"\n${world.trust()}`);
    expect(world.load().trust).toBe(null);
    expect(world.load({ c: [`projects."${world.cwd}".trust_level=trusted`] }).model).toBe('project');
  });

  test('a git worktree has the trust of its main repository when that one knows it', () => {
    const world = new World();
    world.write('main/.git/worktrees/w/commondir', '../..\n');
    world.write('main/.git/worktrees/w/gitdir', `${world.cwd}/.git\n`);
    world.write('work/.git', `gitdir: ${world.root}/main/.git/worktrees/w\n`);
    world.write('work/.openinterpreter/config.toml', 'model = "project"');
    world.config(world.trust(path.join(world.root, 'main')));
    expect(world.load().model).toBe('project');
    world.write('main/.git/worktrees/w/gitdir', '/somewhere/else/.git\n');
    expect(world.load().trust).toBe(null);
  });

  test('what decides where data goes is dropped from a project with a warning', () => {
    const world = withProject('');
    world.config(world.trust());
    const file = world.write(
      'work/.openinterpreter/config.toml',
      'model = "project"\nmodel_provider = "evil"\nnotify = ["x"]\n',
    );
    expect(world.load()).toMatchObject({
      model: 'project',
      notify: null,
      provider: { id: 'openai' },
      warnings: [
        `${file}:2: \`model_provider\` can't be set by a project; it is ignored`,
        `${file}:3: \`notify\` can't be set by a project; it is ignored`,
      ],
    });
  });

  test('project_root_markers decide where the project begins', () => {
    const world = new World();
    world.write('work/.hg/x', '');
    mkdirSync(path.join(world.cwd, 'sub'));
    expect(world.load({ cwd: 'sub' }).project_root).toBe(path.join(world.cwd, 'sub'));
    world.config('project_root_markers = [".hg"]');
    expect(world.load({ cwd: 'sub' }).project_root).toBe(world.cwd);
  });

  test('a home inside the project is no project layer', () => {
    const world = new World();
    const home = path.join(world.cwd, '.openinterpreter');
    world.write('work/.openinterpreter/config.toml', `model_provider = "ollama"\n${world.trust()}`);
    const config = world.load({ env: { INTERPRETER_HOME: home } });
    expect(config).toMatchObject({ provider: { id: 'ollama' }, warnings: [], rules_dirs: [path.join(home, 'rules')] });
  });
});

describe('profiles', () => {
  test('the key `profile` chooses one, -p wins', () => {
    const world = new World();
    world.config('profile = "a"\n[profiles.a]\nmodel = "a"\nfeatures.undo = true\n[profiles.b]\nmodel = "b"\n');
    expect(world.load()).toMatchObject({ model: 'a', features: { undo: true } });
    expect(world.load({ profile: 'b' })).toMatchObject({ model: 'b', features: { undo: false } });
    expect(world.load({ c: ['profile=b'] }).model).toBe('b');
    expect(world.load({ profile: 'c', c: ['profiles.c.model=from an override'] }).model).toBe('from an override');
  });

  test('one that exists in neither form is an error', () => {
    const world = new World();
    expect(world.failure({ profile: 'work' })).toBe(
      'The profile `work` does not exist: there is neither [profiles.work] in config.toml nor the file ~/home/work.config.toml.',
    );
    world.config('model = "x"\nprofile = "work"\n');
    expect(world.failure()).toContain('~/home/config.toml:2:11: The profile `work` does not exist');
  });

  test.each(['a/b', '../x', '', '.hidden'])('the name %j is refused', name => {
    expect(new World().failure({ profile: name })).toContain('is not a plain name');
  });

  test('a profile may not choose another one', () => {
    const world = new World();
    world.write('home/p.config.toml', 'profile = "q"');
    expect(world.failure({ profile: 'p', strict: true })).toContain('unknown configuration field `profile`');
  });
});

describe('home and folder', () => {
  test('without INTERPRETER_HOME the home is in the folder of the person, there or not', () => {
    const world = new World();
    expect(world.load({ env: { INTERPRETER_HOME: '' } }).home).toBe(path.join(world.user, '.openinterpreter'));
  });

  test('INTERPRETER_HOME has to be a folder', () => {
    const world = new World();
    expect(world.failure({ env: { INTERPRETER_HOME: '/no/such/home' } })).toContain(
      'INTERPRETER_HOME is set to /no/such/home',
    );
    const file = world.write('file', '');
    expect(world.failure({ env: { INTERPRETER_HOME: file } })).toContain('INTERPRETER_HOME');
  });

  test('cwd resolves against the folder of the process and has to be a folder', () => {
    const world = new World();
    mkdirSync(path.join(world.cwd, 'sub'));
    world.write('work/file', '');
    expect(world.load({ cwd: 'sub' }).cwd).toBe(path.join(world.cwd, 'sub'));
    expect(world.failure({ cwd: '/nonexistent-dir' })).toBe('The working directory /nonexistent-dir does not exist.');
    for (const cwd of ['file/below', 'a\0b', `/${'a'.repeat(5_000)}`]) {
      expect(world.failure({ cwd })).toMatch(/^The working directory ".{1,210}" can't be used: /);
    }
    expect(world.failure({ cwd: 'file' })).toBe('The working directory ~/work/file is not a folder.');
  });

  test('cwd has to be a folder that can be entered', () => {
    const world = new World();
    chmodSync(world.root, 0o755);
    mkdirSync(path.join(world.cwd, 'closed'), { mode: 0o000 });
    // No folder is closed to root.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(world.failure({ cwd: 'closed' })).toMatch(
        /^The working directory ~\/work\/closed can't be entered: EACCES/,
      );
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});
