/** Prefixes that would allow nearly anything; they are never offered or saved as a rule. */
import { basename } from 'node:path';

/** Run what they are given, whatever words follow: judged by the command behind them. */
const WRAPPERS = new Set(
  'env sudo doas command builtin exec nohup setsid time nice ionice timeout stdbuf xargs'.split(' '),
);

/** No prefix that begins so is narrow: deletion, code from anywhere, another machine's shell. */
const NEVER = new Set('rm eval source . su osascript powershell pwsh cmd'.split(' '));

/** Shells and interpreters: narrow only once a script, a module or the code itself is named. */
const INTERPRETERS = new Set(
  (
    'bash sh zsh dash ksh mksh ash fish csh tcsh busybox python pythonw pyw py pypy node nodejs ts-node tsx perl ruby ' +
    'irb php lua luajit julia R Rscript awk gawk mawk nawk tclsh expect groovy scala ghci runghc elixir iex'
  ).split(' '),
);

/** Programs with sub-commands that do very different things: by themselves they are too broad. */
const MULTI_TOOLS = new Set(
  'git npm pnpm yarn bun deno npx bunx pnpx uvx docker podman kubectl ssh find fd parallel watch'.split(' '),
);

/** `npm run` and the like: which script, must be said. */
const RUNNERS = new Set(['run', 'run-script', 'exec', 'x', 'dlx', 'eval', 'task']);
const RUNNER_TOOLS = new Set('npm pnpm yarn bun deno'.split(' '));

/** `prefix`: words of a command. True when an `allow` rule for it would be no rule at all. */
export function isTooBroad(prefix: readonly string[]): boolean {
  const [program, ...rest] = prefix;
  if (program === undefined || program.trim() === '') return true;
  const name = basename(program)
    .replace(/\.exe$/i, '')
    .replace(/^(python|pypy|lua|perl|ruby|php|node)[\d.-]+$/, '$1');
  if (NEVER.has(name)) return true;
  if (WRAPPERS.has(name)) {
    const command = rest.findIndex(word => !/^-|^[A-Za-z_]\w*=|^[\d.]+[smhd]?$/.test(word));
    return command < 0 || isTooBroad(rest.slice(command));
  }
  const named = rest.some(word => !word.startsWith('-'));
  if (INTERPRETERS.has(name) || MULTI_TOOLS.has(name)) {
    if (!named) return true;
  }
  return RUNNER_TOOLS.has(name) && RUNNERS.has(rest[0] ?? '') && !rest.slice(1).some(word => !word.startsWith('-'));
}
