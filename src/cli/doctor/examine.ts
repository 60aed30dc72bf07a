/** All checks, in the order in which they are told. */
import path from 'node:path';
import { type Config, homeDir, type LoadOptions, loadConfig } from '../../config/index.js';
import { createConnections, createProvider, modelInfo, storedKey } from '../../providers/index.js';
import { createSandbox, type Sandbox } from '../../sandbox/index.js';
import { messageOf, packageVersion } from '../../util/index.js';
import { runAuthCommand } from '../auth-command.js';
import { ripgrepFolder } from '../ripgrep.js';
import { userShell } from '../user-shell.js';
import { type Check, problem, type Report, skipped } from './check.js';
import { checkConfig, checkCredentials, checkModel, checkProvider } from './config-checks.js';
import { checkHome, checkNode, checkProgram, checkShell, GIT, RIPGREP } from './machine-checks.js';
import { checkSandbox } from './sandbox-checks.js';

export type ExamineOptions = {
  readonly load: LoadOptions;
  /** Sends one short request to the model. */
  readonly online: boolean;
};

/** Never throws for what it is there to find. */
export async function examine({ load, online }: ExamineOptions): Promise<Report> {
  const { env } = load;
  const first = [checkNode(process.versions.node), checkShell(userShell(env))];
  const home = place(env);
  const checks = typeof home === 'string' ? await withHome(home, { load, online }) : [home];
  const all = [...first, ...checks];
  return {
    ok: all.every(check => check.status !== 'fail'),
    version: packageVersion(),
    platform: `${process.platform} ${process.arch}`,
    checks: all,
  };
}

function place(env: LoadOptions['env']): string | Check {
  try {
    return homeDir(env);
  } catch (error) {
    return problem('home', 'fail', messageOf(error), 'Correct or unset INTERPRETER_HOME.');
  }
}

async function withHome(home: string, { load, online }: ExamineOptions): Promise<Check[]> {
  const { env } = load;
  const warnings: string[] = [];
  const sandbox = createSandbox({ home, stateDir: path.join(home, 'state'), env, warn: text => warnings.push(text) });
  try {
    const searched = [env['PATH'] ?? '', ...ripgrepFolder()].join(path.delimiter);
    const programs = [GIT, RIPGREP].map(program => checkProgram(program, sandbox, searched));
    const config = tryLoad(load);
    const configured = 'status' in config ? [config, ...UNREAD] : await withConfig(config, sandbox, { load, online });
    return [checkHome(home), ...configured, ...(await Promise.all(programs))];
  } finally {
    await sandbox.close();
  }
}

/** What a faulty configuration leaves open. */
const UNREAD = ['credentials', 'model', 'sandbox'].map(id => skipped(id, 'the configuration could not be read'));

function tryLoad(load: LoadOptions): Config | Check {
  try {
    return loadConfig(load);
  } catch (error) {
    return problem('config', 'fail', messageOf(error), 'Correct the value at the place that is named.');
  }
}

async function withConfig(config: Config, sandbox: Sandbox, { load, online }: ExamineOptions): Promise<Check[]> {
  const { env } = load;
  const sources = { env, storedKey: (id: string) => storedKey(config.home, id) };
  const model = modelInfo(config.model, config.provider, {
    ...(config.model_catalog_json === null ? {} : { catalogPath: config.model_catalog_json }),
    contextWindow: config.model_context_window,
  });
  const checks = [
    checkConfig(config),
    await checkCredentials(config, sources),
    checkModel(model, config.model_context_window),
  ];
  if (online) {
    const connections = createConnections(env);
    // The doctor wants the first answer, not a good one after a while.
    const settings = { ...config.provider, request_max_retries: 0, stream_max_retries: 0 };
    const provider = createProvider(settings, {
      ...sources,
      connections,
      runAuthCommand: runAuthCommand(sandbox, env),
      originator: 'open_interpreter',
      version: packageVersion(),
    });
    checks.push(await checkProvider(config, model, provider));
    connections.close();
  }
  return [...checks, ...(await checkSandbox(sandbox, config.sandbox_policy, config.cwd))];
}
