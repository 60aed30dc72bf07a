/** Finds and reads every layer that applies to one folder. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LoadOptions, Override } from './config.js';
import { ConfigCache } from './config-cache.js';
import { ConfigError } from './errors.js';
import { absolutePath, homeDir } from './home.js';
import type { Keys } from './keys.js';
import { atLayer, judgeIssues, type Layer, type LayerKind, MergedLayers, throwErrors, warningAt } from './layer.js';
import { splitPath } from './override.js';
import { canonical, checkFolder, findProjectRoot, foldersBetween, type Trust, trustOf } from './project.js';
import { ALL_KEYS, CONFIG_KEYS, type RawConfig } from './schema.js';
import { isTable, makeTable, type Table, tableAt, valueAt } from './tables.js';

const SYSTEM_FILE = '/etc/openinterpreter/config.toml';
const PROJECT_FOLDER = '.openinterpreter';
const CONFIG_FILE = 'config.toml';

/** What a project may not decide for the person: where requests and data go, and who is trusted. */
const NOT_FOR_PROJECTS = [
  'model_provider',
  'model_providers',
  'openai_base_url',
  'oss_provider',
  'notify',
  'otel',
  'profile',
  'profiles',
  'projects',
];

export type Surroundings = {
  readonly home: string;
  readonly cwd: string;
  readonly project_root: string;
  readonly project_root_markers: readonly string[];
  readonly trust: Trust;
  readonly cache: ConfigCache;
  readonly merged: MergedLayers;
  /** The folders of project layers, root first, trusted or not. */
  readonly project_folders: readonly string[];
  /** Things a person should know. */
  readonly warnings: readonly string[];
};

export function readLayers(options: LoadOptions): Surroundings {
  const reader = new Reader(options);
  const home = homeDir(options.env);
  const cwd = absolutePath(options.cwd ?? '.', options.process_cwd, options.env);
  checkFolder(cwd);
  const below = [
    ...reader.file('system', options.system_file ?? SYSTEM_FILE, ALL_KEYS),
    ...(options.ignore_user_config === true ? [] : reader.file('user', path.join(home, CONFIG_FILE), ALL_KEYS)),
  ];
  const overrides = (options.overrides ?? []).map(override => reader.override(override));
  reader.throwErrors();
  const own = new MergedLayers([...below, ...overrides]).values;
  const markers = own.project_root_markers ?? ['.git'];
  const root = findProjectRoot(cwd, markers);
  const trust = trustOf(cwd, root, trustEntries(own));
  const folders = foldersBetween(root, cwd)
    .map(folder => path.join(folder, PROJECT_FOLDER))
    .filter(folder => folder !== home && (!existsSync(folder) || canonical(folder) !== canonical(home)));
  const project = folders.flatMap(folder => reader.project(path.join(folder, CONFIG_FILE), trust));
  const profile = reader.profile(options.profile ?? own.profile, [...below, ...overrides], home);
  reader.throwErrors();
  return {
    home,
    cwd,
    project_root: root,
    project_root_markers: markers,
    trust,
    cache: reader.cache,
    merged: new MergedLayers([...below, ...project, ...profile, ...overrides]),
    project_folders: folders,
    warnings: reader.warnings,
  };
}

class Reader {
  readonly cache: ConfigCache;
  readonly warnings: string[] = [];
  readonly #errors: string[] = [];
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.cache = options.cache ?? new ConfigCache();
  }

  /** No layer when the file does not exist. */
  file(kind: LayerKind, file: string, keys: Keys): Layer[] {
    const toml = this.cache.readToml(file);
    if (toml === null) return [];
    return [this.#check({ kind, label: file, file: toml.file, prefix: [] }, toml.table, keys, path.dirname(file))];
  }

  /** Throws ConfigError for everything that was found so far. */
  throwErrors(): void {
    throwErrors(this.#errors);
  }

  override(override: Override): Layer {
    const table = tableAt(splitPath(override.path, override.source), override.value);
    const label = override.source.includes(' ') ? override.source : `${override.source} ${override.path}`;
    return this.#check({ kind: 'override', label, file: null, prefix: [] }, table, ALL_KEYS, this.#options.process_cwd);
  }

  project(file: string, trust: Trust): Layer[] {
    if (trust !== 'trusted') {
      if (trust === null && existsSync(file)) {
        const folder = path.dirname(path.dirname(file));
        this.warnings.push(
          `${file} is not used because the project is not trusted. To use it, add to config.toml in your home: [projects.${JSON.stringify(folder)}] trust_level = "trusted"`,
        );
      }
      return [];
    }
    return this.file('project', file, ALL_KEYS).map(layer => {
      const refused = NOT_FOR_PROJECTS.filter(key => Object.hasOwn(layer.values, key));
      for (const key of refused) {
        this.warnings.push(warningAt(layer, [key], `\`${key}\` can't be set by a project; it is ignored`));
      }
      const values = Object.entries(layer.values).filter(([key]) => !refused.includes(key));
      return { ...layer, values: makeTable(values) };
    });
  }

  /** `[profiles.<name>]` of the files below, and `HOME/<name>.config.toml` above it. */
  profile(name: string | undefined, below: readonly Layer[], home: string): Layer[] {
    if (name === undefined) return [];
    if (!/^[^/\\\0]+$/.test(name) || name.startsWith('.')) {
      throw new ConfigError(`The profile name \`${name}\` is not a plain name: it may not hold a path.`);
    }
    const tables = below.flatMap((layer): Layer[] => {
      const values = valueAt(layer.values, ['profiles', name]);
      if (!isTable(values)) return [];
      return [{ ...layer, kind: 'profile', label: `profile ${name}`, prefix: ['profiles', name], values }];
    });
    const file = path.join(home, `${name}.${CONFIG_FILE}`);
    const layers = [...tables, ...this.file('profile', file, CONFIG_KEYS)];
    if (layers.length === 0) {
      const asked = below.findLast(layer => layer.values['profile'] === name);
      const message = `The profile \`${name}\` does not exist: there is neither [profiles.${name}] in config.toml nor the file ${file}`;
      throw new ConfigError(
        asked === undefined || this.#options.profile !== undefined
          ? `${message}.`
          : atLayer(asked, ['profile'], message, 'value'),
      );
    }
    return layers;
  }

  #check(source: Omit<Layer, 'values'>, table: Table, keys: Keys, dir: string): Layer {
    const checked = this.cache.check(table, keys, value => absolutePath(value, dir, this.#options.env));
    const layer: Layer = { ...source, values: checked.values };
    const { errors, warnings } = judgeIssues(layer, checked.issues, this.#options.strict === true);
    this.#errors.push(...errors);
    this.warnings.push(...warnings);
    return layer;
  }
}

function trustEntries(own: RawConfig): Map<string, Trust> {
  return new Map(Object.entries(own.projects ?? {}).map(([folder, entry]) => [folder, entry.trust_level ?? null]));
}
