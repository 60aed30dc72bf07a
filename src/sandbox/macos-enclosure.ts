/** Puts commands into macOS' own sandbox. */
import type { CommandResult, CommandSpec } from '../protocol/index.js';
import { type ChildExit, exitCodeOf } from './child.js';
import { DomainAccess } from './domain-access.js';
import type { Dialer } from './domain-proxy/gate.js';
import { type Enclosed, type EncloseRequest, type Enclosure, isProblem } from './enclosure.js';
import { type Problem, refusal } from './enforcement.js';
import { networkOf, policyEnvironment } from './policy-paths.js';
import { layoutFacts, readLayout } from './read-layout.js';
import { RootPins } from './root-pins.js';
import { scanGlobs } from './scan-globs.js';
import { type SeatbeltNetwork, seatbeltProfile } from './seatbelt.js';

/** Never looked up on PATH: only the system's own is trusted. */
const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

export type MacosOptions = { readonly home: string; readonly stateDir: string; readonly dialer: Dialer | undefined };

export class MacosEnclosure implements Enclosure {
  readonly #options: MacosOptions;
  readonly #pins = new RootPins();
  readonly #access: DomainAccess;

  constructor(options: MacosOptions) {
    this.#options = options;
    this.#access = new DomainAccess(null, options.dialer);
  }

  async enclose({ spec, program }: EncloseRequest): Promise<Enclosed | Problem> {
    const facts = layoutFacts(spec, this.#options);
    const roots = this.#pins.check(spec.policy, facts);
    if (isProblem(roots)) return roots;
    const matches = await scanGlobs(spec.policy);
    if (isProblem(matches)) return matches;
    const layout = readLayout(spec.policy, { ...facts, matches: matches.found });
    const [cause] = layout.problems;
    if (cause !== undefined) return { cause, advice: 'change the folder or the configuration as said' };

    const crossing =
      spec.policy.type === 'profile' && spec.policy.network.type === 'domains'
        ? await this.#access.open(spec.policy, null)
        : null;
    const network: SeatbeltNetwork = crossing
      ? { type: 'proxy', port: crossing.port }
      : { type: networkOf(spec.policy) === 'on' ? 'on' : 'off' };
    const unixSockets = 'allow_unix_sockets' in spec.policy && spec.policy.allow_unix_sockets;
    const { text, parameters } = seatbeltProfile({ layout, network, unixSockets });
    return {
      argv: [
        SANDBOX_EXEC,
        '-p',
        text,
        ...parameters.map(([name, path]) => `-D${name}=${path}`),
        '--',
        program,
        ...spec.argv.slice(1),
      ],
      env: { ...spec.env, ...policyEnvironment(spec.policy, 'darwin'), CODEX_SANDBOX: 'seatbelt', ...crossing?.env },
      inherit: [],
      ...(crossing ? { onNote: crossing.onNote } : {}),
      closeDescriptors: () => {},
      resultOf: async (exit, head) => seatbeltResult(spec, exit, head),
      release: async () => crossing?.close(),
    };
  }

  async close(): Promise<void> {
    await this.#access.close();
  }
}

/** sandbox-exec ends with EX_DATAERR for a bad profile and EX_OSERR when it can't apply it. */
function seatbeltResult(spec: CommandSpec, exit: ChildExit, head: string): CommandResult {
  const failure = /^sandbox-exec: (.*)$/m.exec(head)?.[1];
  if (failure !== undefined && (exit.code === 65 || exit.code === 71)) {
    const problem = {
      cause: `sandbox-exec: ${failure}`,
      advice: 'run it outside of other sandboxes: macOS does not allow one inside another',
    };
    return { type: 'not_started', reason: 'sandbox', message: refusal(spec.policy, problem) };
  }
  return { type: 'exited', exit_code: exitCodeOf(exit), signal: exit.signal };
}
