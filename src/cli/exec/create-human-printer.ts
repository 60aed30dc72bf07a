/** The printer for people: colours and the head of the report. */
import pc from 'picocolors';
import type { Config } from '../../config/index.js';
import type { ModelInfo, SandboxPolicy } from '../../protocol/index.js';
import { type Env, packageVersion } from '../../util/index.js';
import { HumanPrinter } from './human-printer.js';
import type { StandardOutput } from './standard-output.js';

export type HumanOutput = {
  readonly output: StandardOutput;
  readonly outputIsTerminal: boolean;
  readonly color: 'always' | 'never' | 'auto';
  readonly env: Env;
  readonly config: Config;
  readonly model: ModelInfo;
  readonly prompt: string;
};

export function createHumanPrinter(options: HumanOutput): HumanPrinter {
  const { output, outputIsTerminal, config, model, prompt } = options;
  const colors = pc.createColors(wantsColors(options));
  return new HumanPrinter({
    output,
    outputIsTerminal,
    stderr: process.stderr,
    colors,
    banner: colors.bold(`Open Interpreter v${packageVersion()}`),
    head: headOf(config, model),
    prompt,
    cwd: config.cwd,
    price: model.price,
  });
}

function wantsColors({ color, env }: HumanOutput): boolean {
  if (color !== 'auto') return color === 'always';
  return process.stderr.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

function headOf(config: Config, model: ModelInfo): (readonly [string, string])[] {
  const { approval_policy: approval } = config;
  return [
    ['workdir', config.cwd],
    ['model', config.model],
    ['provider', config.provider.id],
    ['approval', typeof approval === 'string' ? approval : 'granular'],
    ['sandbox', sandboxText(config.sandbox_policy)],
    ['reasoning effort', config.model_reasoning_effort ?? model.default_reasoning_effort ?? 'none'],
    ['reasoning summaries', config.model_reasoning_summary ?? (model.reasoning_summaries ? 'auto' : 'none')],
  ];
}

function sandboxText(policy: SandboxPolicy): string {
  switch (policy.type) {
    case 'read-only':
    case 'danger-full-access':
      return policy.type;
    case 'workspace-write': {
      const roots = [
        'workdir',
        ...(policy.exclude_slash_tmp ? [] : ['/tmp']),
        ...(policy.exclude_tmpdir_env_var ? [] : ['$TMPDIR']),
        ...policy.writable_roots,
      ];
      return `workspace-write [${roots.join(', ')}]${policy.network_access ? ' (network access enabled)' : ''}`;
    }
    case 'profile':
      return `profile ${policy.name}`;
  }
}
