/** Every key of config.toml that does something here. `known-keys.ts` lists those that are accepted and do nothing. */
import * as z from 'zod';
import { SANDBOX_MODES } from '../protocol/index.js';
import { FEATURES, type FeatureName } from './config.js';
import {
  count,
  flag,
  type Infer,
  map,
  milliseconds,
  name,
  oneOf,
  path,
  paths,
  plainly,
  seconds,
  table,
  text,
  texts,
  tokens,
  value,
} from './keys.js';
import { hookKeys } from './schema-hooks.js';
import { mcpServerKeys } from './schema-mcp.js';
import { otelKeys } from './schema-otel.js';
import { permissionKeys } from './schema-permissions.js';
import { providerKeys } from './schema-providers.js';

const modelKeys = {
  model: name('Model id, as the provider spells it.', 'the default model of the provider'),
  model_provider: name('Id of the provider: a built-in one or one of `[model_providers]`.', 'openai'),
  model_context_window: tokens('Tokens of the context window, when it differs from the catalogue.', 'by model'),
  model_auto_compact_token_limit: tokens('Tokens of history at which it is compacted.', '90 % of the window'),
  model_reasoning_effort: name(
    'How hard the model thinks: `minimal`, `low`, `medium`, `high`, `xhigh`, or any value the model knows.',
    'by model',
  ),
  model_reasoning_summary: oneOf(
    'Whether summaries of the reasoning are asked for.',
    ['auto', 'concise', 'detailed', 'none'],
    'by model',
  ),
  model_verbosity: oneOf('How long answers are, for models that know this.', ['low', 'medium', 'high'], 'by model'),
  model_instructions_file: path('File whose text replaces the built-in base instructions.'),
  model_catalog_json: path('JSON file with model descriptions that replace or extend the built-in catalogue.'),
  developer_instructions: text('Text sent as the first part of the developer message.'),
  compact_prompt: text('Prompt that asks for the summary when the history is compacted.'),
  experimental_compact_prompt_file: path('File with the compaction prompt; `compact_prompt` wins.'),
  tool_output_token_limit: tokens('Tokens of one tool output that the model is shown.', '10000'),
  service_tier: name('Service tier to ask for, e.g. `priority` or `flex`.'),
  review_model: name('Model of `interpreter exec review`.', 'the value of `model`'),
  harness: text(
    'Model-facing profile (names and shapes of the tools); "" or `native` is the product\'s own.',
    'by model family',
  ),
  include_permissions_instructions: flag('Whether the model is told what it may do.', true),
  include_environment_context: flag('Whether the model is told cwd, shell, date and the like.', true),
  project_doc_max_bytes: count('Bytes of AGENTS.md text taken from the project; the nearest files are kept.', '32768'),
  project_doc_fallback_filenames: texts('File names tried in each folder when it has no AGENTS.md.', '[]'),
  project_root_markers: texts('Names that mark the root of a project.', '[".git"]'),
  web_search: oneOf(
    'Web search hosted by the provider: `cached` only knows pages already fetched.',
    ['disabled', 'cached', 'indexed', 'live'],
    '`cached` with the provider openai (`live` with full access), else `disabled`',
  ),
  hide_agent_reasoning: flag('Leaves reasoning out of events and output.', false),
  show_raw_agent_reasoning: flag('Shows raw reasoning text where a provider sends it.', false),
  oss_provider: oneOf('Provider of `--oss`.', ['ollama', 'lmstudio']),
  openai_base_url: name('Base URL of the built-in provider openai.', 'https://api.openai.com/v1'),
} as const;

const APPROVAL_POLICIES = ['untrusted', 'on-failure', 'on-request', 'never'] as const;
const granular = () =>
  z.strictObject({
    granular: z.strictObject({
      sandbox_approval: z.boolean().optional(),
      rules: z.boolean().optional(),
      mcp_elicitations: z.boolean().optional(),
      request_permissions: z.boolean().optional(),
      skill_approval: z.boolean().optional(),
    }),
  });

const safetyKeys = {
  approval_policy: plainly(
    value(
      'When a person is asked: `untrusted`, `on-request`, `never`, or `{ granular = { sandbox_approval, rules, mcp_elicitations } }`, where a category that is false turns its questions into refusals (`request_permissions` and `skill_approval` are taken as well; no such questions are asked). `on-failure` means `on-request`.',
      () => z.union([z.enum(APPROVAL_POLICIES), granular()]),
      'on-request; `never` in `exec`',
    ),
    one => APPROVAL_POLICIES.some(policy => policy === one),
  ),
  sandbox_mode: oneOf(
    'What commands and patches may touch.',
    SANDBOX_MODES,
    '`workspace-write` in a git work tree, else `read-only`',
  ),
  sandbox_workspace_write: table('Details of `workspace-write`.', {
    writable_roots: paths('Further folders that may be written.', '[]'),
    network_access: flag('Whether commands reach the network.', false),
    exclude_tmpdir_env_var: flag('Takes `$TMPDIR` out of the writable folders.', false),
    exclude_slash_tmp: flag('Takes `/tmp` out of the writable folders.', false),
    allow_unix_sockets: flag(
      'Whether commands may use Unix sockets of the machine (docker, agents, databases).',
      false,
    ),
  }),
  default_permissions: name(
    'Permission profile used when no `sandbox_mode` is set: `:read-only`, `:workspace`, `:danger-full-access` or a name of `[permissions]`.',
  ),
  permissions: map('Permission profiles.', 'name', permissionKeys),
  allow_login_shell: flag('Whether commands may run in a login shell.', true),
  background_terminal_max_timeout: milliseconds(
    'Longest wait for output of a running command, milliseconds.',
    '300000',
  ),
  shell_environment_policy: table('The environment of commands.', {
    inherit: oneOf(
      'What is taken from the own environment; `core` is PATH, HOME and the like.',
      ['all', 'core', 'none'],
      'all',
    ),
    ignore_default_excludes: flag('True keeps variables named like `*KEY*`, `*SECRET*`, `*TOKEN*`.', false),
    exclude: texts('Patterns (`*`, `?`, `[a-z]`) of names to drop.', '[]'),
    set: value('Variables to set.', () => z.record(z.string(), z.string())),
    include_only: texts('When not empty, only names that match one of these patterns are kept.', '[]'),
    filters: value('Newer spelling of the two: pattern = `include` or `exclude`.', () =>
      z.record(z.string(), z.enum(['include', 'exclude'])),
    ),
  }),
  projects: map(
    'Trust in projects. Read from the system and user files and from overrides only.',
    'path',
    table('', {
      trust_level: oneOf('Configuration, hooks and rules of a project are used when it is trusted.', [
        'trusted',
        'untrusted',
      ]),
    }),
    (name, absolute) => absolute(name),
  ),
} as const;

const placeKeys = {
  log_dir: path('Folder of log files.'),
  sqlite_home: path('Folder of the thread index.', 'the home'),
  notify: texts('Program and arguments, run after each turn with one more argument: JSON about the turn.'),
  skills: table('Skills.', {
    include_instructions: flag('Whether the model is told which skills there are.', true),
    config: value(
      'Skills by folder; `enabled = false` hides one.',
      () => z.array(z.strictObject({ path: z.string().min(1), enabled: z.boolean().optional() })),
      null,
      (skills, absolute) => skills.map(skill => ({ ...skill, path: absolute(skill.path) })),
    ),
  }),
  mcp_server: table('The product as an MCP server.', {
    events: oneOf('`none` turns the `codex/event` notifications off.', ['codex', 'none'], 'codex'),
    thread_id_text: flag('Whether the thread id follows the answer as a second text block.', true),
    approval_timeout_sec: seconds('Seconds until an unanswered question counts as a denial.', '600'),
  }),
} as const;

export const CONFIG_KEYS = {
  ...modelKeys,
  ...safetyKeys,
  model_providers: map('Providers, beside or over the built-in ones.', 'id', providerKeys),
  mcp_servers: map('MCP servers whose tools the agent may use.', 'name', mcpServerKeys),
  features: table('Features that can be turned on and off.', {
    unified_exec: flag(
      'Commands that go on in the background and take input; off: one command, one answer.',
      FEATURES.unified_exec,
    ),
    view_image: flag('A tool that shows image files to the model.', FEATURES.view_image),
    hooks: flag('Whether `[hooks]` are run.', FEATURES.hooks),
    tool_search: flag('Tools of MCP servers are found by a search when there are many.', FEATURES.tool_search),
    undo: flag('Snapshots of the work tree, so that a turn can be undone.', FEATURES.undo),
  } satisfies Record<FeatureName, unknown>),
  hooks: hookKeys,
  ...placeKeys,
  otel: otelKeys,
} as const;

/** Keys that choose a profile; they stand in files only, and not inside a profile. */
export const PROFILE_KEYS = {
  profile: name('Name of the profile to use; `-p` wins.'),
  profiles: map(
    'Profiles: each may set any other key of this page. `HOME/<name>.config.toml` is the same as a file.',
    'name',
    table('', CONFIG_KEYS),
  ),
} as const;

export const ALL_KEYS = { ...CONFIG_KEYS, ...PROFILE_KEYS } as const;

type Tree<S> = { readonly [K in keyof S]?: Infer<S[K]> };
/** A checked layer, or the result of merging some. */
export type RawConfig = Tree<typeof ALL_KEYS>;
