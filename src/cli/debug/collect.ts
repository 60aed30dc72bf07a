/** What a bug report needs, without secrets. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import {
  type Config,
  explainConfig,
  formatExplanation,
  homeDir,
  type LoadOptions,
  loadConfig,
} from '../../config/index.js';
import { readRolloutText } from '../../rollout/index.js';
import { createRedactor, type Redactor } from '../../telemetry/index.js';
import { messageOf, packageVersion } from '../../util/index.js';
import { allThreads } from '../all-threads.js';
import { examine } from '../doctor/examine.js';
import { reportText } from '../doctor-command.js';
import { logFiles } from '../log-file.js';
import { configuredSecrets } from '../observation.js';
import { resolveThread } from '../resolve-thread.js';
import { stripRollout } from './strip-text.js';

/** The newest log files, and how much of the end of each. */
const LOG_FILES = 3;
const LOG_BYTES = 512 * 1024;

export type BundleFile = {
  readonly name: string;
  readonly text: string;
  /** What is in it, for the person who decides. */
  readonly about: string;
};

export type CollectOptions = {
  readonly load: LoadOptions;
  /** Id of a thread or its beginning; `latest`: the one used last; null: none. */
  readonly thread: string | null;
  /** Texts of the thread too: prompts, answers, commands and what they printed. */
  readonly texts: boolean;
  readonly online: boolean;
};

/** Throws when a thread that was named does not exist. What else can't be had is said in its place. */
export async function collect(options: CollectOptions): Promise<BundleFile[]> {
  const { load } = options;
  const config = tryConfig(load);
  const redact = createBundleRedactor(load.env, config);
  const home = config?.home ?? homeDir(load.env);
  const files = [
    { name: 'about.txt', about: 'versions, and which variables are set (names only)', text: aboutText(load.env) },
    { name: 'config.txt', about: 'the configuration in force, without secrets', text: configText(load) },
    {
      name: 'doctor.txt',
      about: 'what `interpreter doctor` says',
      text: await reportText(await examine({ load, online: options.online }), false),
    },
    ...(config?.log_dir == null ? [] : logs(config.log_dir)),
  ].map(file => ({ ...file, text: redact(file.text) }));
  const thread = await threadFile({ ...options, home, sqliteHome: config?.sqlite_home ?? home, redact });
  return thread === null ? files : [...files, thread];
}

/** Secrets, and the name of the person as far as it is part of paths. */
function createBundleRedactor(env: LoadOptions['env'], config: Config | null): Redactor {
  const redact = createRedactor({ env, secrets: config === null ? [] : configuredSecrets(config) });
  const home = env['HOME'];
  return text => redact(home === undefined || home.length < 2 ? text : text.replaceAll(home, '~'));
}

function tryConfig(load: LoadOptions): Config | null {
  try {
    return loadConfig(load);
  } catch {
    // What is wrong with it stands in the doctor's report.
    return null;
  }
}

function configText(load: LoadOptions): string {
  try {
    return formatExplanation(explainConfig(load));
  } catch (error) {
    return `The configuration can't be read: ${messageOf(error)}\n`;
  }
}

function aboutText(env: LoadOptions['env']): string {
  const names = Object.keys(env).filter(name =>
    /^(INTERPRETER|CODEX|OTEL|HTTPS?_PROXY|NO_PROXY)|_(API_)?KEY$/i.test(name),
  );
  return [
    `interpreter ${packageVersion()}`,
    `node ${process.versions.node}, ${process.platform} ${process.arch}`,
    `written ${new Date().toISOString()}`,
    `variables that are set: ${names.sort().join(', ') || 'none of interest'}`,
    '',
  ].join('\n');
}

function logs(folder: string): BundleFile[] {
  return logFiles(folder)
    .slice(0, LOG_FILES)
    .map(file => ({ name: `logs/${path.basename(file)}`, about: 'the end of a log file', text: endOf(file) }));
}

function endOf(file: string): string {
  let fd: number | null = null;
  try {
    fd = openSync(file, 'r');
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, LOG_BYTES));
    const read = readSync(fd, bytes, 0, bytes.length, Math.max(0, size - LOG_BYTES));
    return bytes.subarray(0, read).toString('utf8');
  } catch (error) {
    return `${messageOf(error)}\n`;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

type ThreadOptions = Pick<CollectOptions, 'thread' | 'texts'> & {
  readonly home: string;
  readonly sqliteHome: string;
  readonly redact: Redactor;
};

async function threadFile({ thread, texts, home, sqliteHome, redact }: ThreadOptions): Promise<BundleFile | null> {
  const file = await threadPath(thread, { home, sqliteHome });
  if (file === null) return null;
  const text = stripRollout(await readRolloutText(file), { redact, texts });
  const about = texts
    ? 'a thread with all that was said, run and printed in it'
    : 'the course of a thread, without its texts';
  return { name: 'thread.jsonl', about, text };
}

async function threadPath(thread: string | null, place: { home: string; sqliteHome: string }): Promise<string | null> {
  if (thread === null) return null;
  if (thread !== 'latest') return (await resolveThread(place.home, thread)).path;
  const [latest] = await allThreads(place, { limit: 1 }, () => {});
  return latest?.rollout_path ?? null;
}
