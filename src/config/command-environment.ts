/** The environment of commands: `[shell_environment_policy]`, in its documented order, and what every command gets. */
import type { ShellEnvironmentPolicy } from '../protocol/index.js';
import type { Env } from '../util/index.js';

export type CommandEnvironmentOptions = {
  readonly threadId: string;
  /** Never taken from the own environment, whatever the policy says: `providerVariables(config.provider)`. */
  readonly dropNames: readonly string[];
  /** Folders added to PATH behind what is there, e.g. the one of ripgrep. */
  readonly extraPath?: readonly string[];
  /** True adds the mark that tells programs they have no network. */
  readonly networkDisabled?: boolean;
};

const CORE = ['PATH', 'SHELL', 'TMPDIR', 'TEMP', 'TMP', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'USER'];
const DEFAULT_EXCLUDES = ['*KEY*', '*SECRET*', '*TOKEN*'];
/** The three variables of workload identities: with them a program acts as this process towards the service. */
const WORKLOAD_IDENTITY = [
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
];
/** Headers of a telemetry collector hold the key to it. */
const ALWAYS_DROPPED = [...WORKLOAD_IDENTITY, 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_*_HEADERS'];

/** Programs that page, colour or ask would hang or litter the output. */
const FOR_EVERY_COMMAND = {
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
};

/** Names are compared without case; patterns know `*`, `?` and `[..]`. */
export function commandEnvironment(
  policy: ShellEnvironmentPolicy,
  env: Env,
  options: CommandEnvironmentOptions,
): Record<string, string> {
  const dropped = matcher([...options.dropNames.map(literal), ...ALWAYS_DROPPED]);
  const inherited = matcher(policy.inherit === 'all' ? ['*'] : policy.inherit === 'core' ? CORE : []);
  const excluded = matcher([...(policy.ignore_default_excludes ? [] : DEFAULT_EXCLUDES), ...policy.exclude]);
  const result = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && inherited(name) && !excluded(name) && !dropped(name)) result.set(name, value);
  }
  for (const [name, value] of Object.entries(policy.set)) result.set(name, value);
  if (policy.include_only.length > 0) {
    const included = matcher(policy.include_only);
    for (const name of result.keys()) if (!included(name)) result.delete(name);
  }
  for (const [name, value] of Object.entries(FOR_EVERY_COMMAND)) result.set(name, value);
  result.set('CODEX_THREAD_ID', options.threadId);
  result.set('CODEX_SESSION_ID', options.threadId);
  if (options.networkDisabled === true) result.set('CODEX_SANDBOX_NETWORK_DISABLED', '1');
  // Without a PATH shells use one of their own, which these folders must not replace.
  const searched = result.get('PATH');
  if (searched !== undefined) result.set('PATH', [searched, ...(options.extraPath ?? [])].join(':'));
  return Object.fromEntries(result);
}

function literal(name: string): string {
  return name.replace(/[*?[\]]/g, '[$&]');
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map(globExpression);
  return name => expressions.some(expression => expression.test(name));
}

/** A pattern that is no valid one (an open bracket) only matches itself. */
function globExpression(pattern: string): RegExp {
  const source = pattern.replace(
    /\[(!?)([^\]]+)\]|[\s\S]/gu,
    (one, not: string | undefined, set: string | undefined) => {
      if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replace(/[\\^[\]]/g, '\\$&')}]`;
      if (one === '*') return '.*';
      if (one === '?') return '.';
      return one.replace(/[\\^$.|+()[\]{}/-]/g, '\\$&');
    },
  );
  try {
    return new RegExp(`^${source}$`, 'isu');
  } catch {
    // A range such as [z-a].
    return new RegExp(`^${pattern.replace(/[^\w]/gu, '\\$&')}$`, 'is');
  }
}
