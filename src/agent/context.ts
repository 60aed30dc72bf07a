/** The context blocks of a request: who may do what, where, and what the project says. */
import type { Config } from '../config/index.js';
import type { ContentPart, HistoryItem } from '../protocol/index.js';
import { sandboxEntries, writableRoots } from '../sandbox/index.js';
import { agentsMdBlock } from './agents-md.js';
import { currentDate, type EnvironmentFacts, environmentText } from './environment-text.js';
import { newItemId } from './ids.js';
import { permissionsText } from './permissions-text.js';

/** What the model has been told; kept with the thread, so that later turns send changes only. */
export type SentContext = {
  developer: string | null;
  skills: string | null;
  permissions: string | null;
  agentsMd: string | null;
  environment: EnvironmentFacts | null;
};

export type ContextOptions = {
  config: Config;
  shell: string;
  tmpdir: string | null;
  skills: string | null;
  now: Date;
  timezone: string;
  warn: (message: string) => void;
};

/** The context as it stands now. Reads AGENTS.md files. */
export async function currentContext(options: ContextOptions): Promise<SentContext> {
  const { config, skills, warn } = options;
  return {
    developer: config.instructions.developer,
    skills,
    permissions: config.include_permissions_instructions
      ? permissionsText(
          config.sandbox_policy,
          config.approval_policy,
          writableRoots(config.sandbox_policy, facts(options)),
        )
      : null,
    agentsMd: await agentsMdBlock({
      home: config.home,
      cwd: config.cwd,
      projectRoot: config.project_root,
      maxBytes: config.project_doc.max_bytes,
      fallbackFilenames: config.project_doc.fallback_filenames,
      warn,
    }),
    environment: config.include_environment_context ? environment(options) : null,
  };
}

function facts({ config, tmpdir }: ContextOptions) {
  return { cwd: config.cwd, home: config.home, tmpdir };
}

function environment(options: ContextOptions): EnvironmentFacts {
  const { config } = options;
  const policy = config.sandbox_policy;
  const online =
    policy.type === 'danger-full-access' ||
    (policy.type === 'workspace-write' && policy.network_access) ||
    (policy.type === 'profile' && policy.network.type === 'on');
  return {
    cwd: config.cwd,
    shell: options.shell.split('/').at(-1) ?? options.shell,
    ...currentDate(options.now, options.timezone),
    network: online ? 'enabled' : 'restricted',
    filesystem: sandboxEntries(policy, facts(options)),
  };
}

/** The items that tell `now`, given what was told `before` (null = nothing yet). Empty when nothing changed. */
export function contextItems(now: SentContext, before: SentContext | null): HistoryItem[] {
  const changed = (key: 'developer' | 'skills' | 'permissions' | 'agentsMd'): string[] => {
    const text = now[key];
    return text !== null && text !== before?.[key] ? [text] : [];
  };
  const developer = [...changed('developer'), ...changed('skills'), ...changed('permissions')];
  const environmentBlock = now.environment && environmentText(now.environment, before?.environment ?? undefined);
  const user = [...changed('agentsMd'), ...(environmentBlock ? [environmentBlock] : [])];
  const items: HistoryItem[] = [];
  if (developer.length > 0) items.push(message('developer', developer));
  if (user.length > 0) items.push(message('user', user));
  return items;
}

export function message(role: 'developer' | 'user', texts: readonly string[]): HistoryItem {
  const content: ContentPart[] = texts.map(text => ({ type: 'input_text', text }));
  return { type: 'message', id: newItemId('msg'), role, content };
}

const SUMMARY_PREFACE =
  'An earlier part of this thread was replaced by the following summary, which was written by the model that did the work. Build on it; do not repeat finished work.';

export const summaryText = (summary: string): string =>
  `${SUMMARY_PREFACE}\n${summary.trim() || '(no summary available)'}`;

export const isSummary = (text: string): boolean => text.startsWith(SUMMARY_PREFACE);
