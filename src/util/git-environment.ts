/**
 * git in a repository that nobody vouches for. It may configure programs of its own, and none of them is run: no hooks,
 * no file monitor, no external diff, no filters, no pager, no signatures, no network.
 */
import { type Env, setVariables } from './env.js';

/** Settings of git, name and value. */
export type GitSettings = readonly (readonly [string, string])[];

/** Switches off what a repository can make git run, but for its filters, which have names: see `filtersOff`. */
export const GIT_RUNS_NOTHING: GitSettings = [
  ['core.alternateRefsCommand', ''],
  ['core.askPass', ''],
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['core.untrackedCache', 'false'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gc.auto', '0'],
  ['gpg.program', 'false'],
  ['log.showSignature', 'false'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['uploadpack.packObjectsHook', ''],
];

/** Arguments of git that print the names of its filters, each with a NUL; exit code 1 when there are none. Runs nothing. */
export const LIST_FILTERS = [
  'config',
  '-z',
  '--name-only',
  '--get-regexp',
  '^filter\\..*\\.(clean|smudge|process|required)$',
];

/** Even to see whether a file has changed git may run the filter that the repository has for it. `listed`: the names. */
export function filtersOff(listed: string): GitSettings {
  const names = listed.split('\0').filter(name => name !== '');
  return names.map(name => [name, name.endsWith('.required') ? 'false' : '']);
}

/** The whole environment of a call. No GIT_* variable of the caller: GIT_EXTERNAL_DIFF and the like name programs too. */
export function gitEnvironment({ PATH, HOME, XDG_CONFIG_HOME }: Env, settings: GitSettings): Record<string, string> {
  return {
    ...setVariables({ PATH, HOME, XDG_CONFIG_HOME }),
    LC_ALL: 'C.UTF-8',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, name],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}
