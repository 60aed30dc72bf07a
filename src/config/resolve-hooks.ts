/** Hooks of every layer, from the lowest up: unlike other lists they add to each other. */
import path from 'node:path';
import { HOOK_EVENTS, type HookEventName, type HookSettings } from '../protocol/index.js';
import { type Env, messageOf, parsePattern } from '../util/index.js';
import { ConfigError } from './errors.js';
import { absolutePath } from './home.js';
import { atLayer, judgeIssues, type Layer, throwErrors } from './layer.js';
import type { Surroundings } from './read-layers.js';
import { type HookGroups, hookKeys } from './schema-hooks.js';
import { isTable, type Table } from './tables.js';

const KEYS = { hooks: hookKeys };
const DEFAULT_TIMEOUT_MS = 600_000;

/** Hooks of files (and of the `hooks.json` beside them) and of overrides. Throws ConfigError. */
export function resolveHooks(
  around: Surroundings,
  env: Env,
  strict: boolean,
  warn: (message: string) => void,
): HookSettings[] {
  const beside = new Set(
    around.merged.layers.flatMap(layer => (layer.file === null ? [] : [path.dirname(layer.file.path)])),
  );
  const own = [...beside, around.home].filter(folder => !around.project_folders.includes(folder));
  const json = [...new Set(own)].flatMap(folder => hooksFile(folder, true));
  const projects = around.project_folders.flatMap(folder => hooksFile(folder, around.trust === 'trusted'));
  return [...json, ...projects, ...around.merged.layers.flatMap(layer => hooksOf(layer, true))];

  function hooksFile(folder: string, trusted: boolean): HookSettings[] {
    const file = around.cache.readText(path.join(folder, 'hooks.json'));
    if (file === null) return [];
    try {
      const table = parseJson(file.text);
      const layer: Layer = { kind: trusted ? 'user' : 'project', label: file.path, file: null, prefix: [], values: {} };
      const checked = around.cache.check(table, KEYS, value => absolutePath(value, folder, env));
      const { errors, warnings } = judgeIssues(layer, checked.issues, strict);
      throwErrors(errors);
      for (const warning of warnings) warn(warning);
      return hooksOf({ ...layer, values: checked.values }, trusted);
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof SyntaxError)) throw error;
      const message = error instanceof ConfigError ? error.message : `${file.path}: invalid JSON: ${messageOf(error)}`;
      if (trusted) throw new ConfigError(message, { cause: error });
      return [];
    }
  }
}

/** Throws SyntaxError. The file holds `{ "hooks": { … } }`. */
function parseJson(text: string): Table {
  const value: unknown = JSON.parse(text);
  if (!isTable(value)) throw new SyntaxError('expected an object with the member "hooks"');
  return value;
}

function hooksOf(layer: Layer, trusted: boolean): HookSettings[] {
  const hooks = layer.values['hooks'] as Readonly<Partial<Record<HookEventName, HookGroups>>> | undefined;
  return HOOK_EVENTS.flatMap(event =>
    (hooks?.[event] ?? []).flatMap((group, index) => {
      checkMatcher(group.matcher, layer, event, index);
      return group.hooks.map(handler => ({
        event,
        matcher: group.matcher ?? null,
        command: handler.command,
        timeout_ms: handler.timeout === undefined ? DEFAULT_TIMEOUT_MS : handler.timeout * 1000,
        status_message: handler.statusMessage ?? null,
        source: layer.file?.path ?? layer.label,
        trusted,
      }));
    }),
  );
}

function checkMatcher(matcher: string | undefined, layer: Layer, event: string, index: number): void {
  if (matcher === undefined || matcher === '' || matcher === '*') return;
  try {
    parsePattern(matcher);
  } catch (error) {
    const message = `\`${matcher}\` is not a regular expression`;
    throw new ConfigError(atLayer(layer, ['hooks', event, index, 'matcher'], message, 'value'), { cause: error });
  }
}
