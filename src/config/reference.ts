/** The JSON Schema of config.toml and the reference page, both made from the descriptions of the keys. */
import * as z from 'zod';
import { BUILT_IN_PROVIDERS } from './built-in-providers.js';
import type { KeyNode, Keys } from './keys.js';
import { KNOWN_KEYS } from './known-keys.js';
import { parseTomlValue } from './override.js';
import { ALL_KEYS, CONFIG_KEYS, PROFILE_KEYS } from './schema.js';

type Schema = { [key: string]: unknown };

/** JSON Schema (draft 2020-12) of config.toml, for editors. */
export function configJsonSchema(): Schema {
  const { profiles, ...own } = objectSchema(ALL_KEYS, '').properties;
  const references = Object.fromEntries(Object.keys(own).map(key => [key, { $ref: `#/$defs/${key}` }]));
  const inProfile = Object.fromEntries(
    Object.entries(references).filter(([key]) => key !== 'profile' && key !== 'projects'),
  );
  const eachProfile = { type: 'object', properties: inProfile, additionalProperties: false };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'config.toml of interpreter',
    type: 'object',
    properties: { ...references, profiles: { ...profiles, additionalProperties: eachProfile } },
    additionalProperties: false,
    $defs: { ...own, idle: { description: 'Accepted; has no effect here.' } },
  };
}

/** Keys without effect below `pattern`, which ends in a dot unless empty. */
function idleSchemas(pattern: string): Record<string, Schema> {
  const names = [...KNOWN_KEYS].filter(key => key.startsWith(pattern)).map(key => key.slice(pattern.length));
  return Object.fromEntries(names.filter(name => !name.includes('.')).map(name => [name, { $ref: '#/$defs/idle' }]));
}

function objectSchema(
  keys: Keys,
  pattern: string,
): { type: 'object'; properties: Record<string, Schema>; additionalProperties: false } {
  const own = Object.entries(keys).map(([key, node]) => [key, nodeSchema(node, `${pattern}${key}`)] as const);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(own), ...idleSchemas(pattern) },
    additionalProperties: false,
  };
}

function nodeSchema(node: KeyNode, pattern: string): Schema {
  const description = node.doc === '' ? {} : { description: node.doc };
  switch (node.kind) {
    case 'table':
      return { ...description, ...objectSchema(node.keys, `${pattern}.`) };
    case 'map':
      return { ...description, type: 'object', additionalProperties: nodeSchema(node.each, `${pattern}.*`) };
    case 'value': {
      const { $schema: _draft, ...schema } = z.toJSONSchema(node.type()) as Schema;
      const fallback = fixedDefault(node.default, schema);
      return { ...description, ...schema, ...(fallback === undefined ? {} : { default: fallback }) };
    }
  }
}

function fixedDefault(described: string | null, schema: Schema): unknown {
  if (described === null) return undefined;
  const allowed = schema['enum'];
  if (Array.isArray(allowed)) return allowed.includes(described) ? described : undefined;
  return parseTomlValue(described);
}

/** docs/config.md. */
export function configReference(): string {
  return `${INTRODUCTION}\n## Keys\n\n${sections()}\n${PROVIDERS}\n${providerTable()}\n${idleKeys()}`;
}

const INTRODUCTION = `# Configuration

<!-- Generated from src/config/schema.ts by scripts/generate-config-docs.ts. Change it there. -->

\`config.toml\` stands in the home: \`~/.openinterpreter\`, or the folder that \`INTERPRETER_HOME\` names.
\`interpreter config show\` prints every value with the place it came from; \`interpreter config set KEY VALUE\` changes
one and keeps comments and layout. Three lines are enough:

\`\`\`toml
model_provider = "moonshotai"
model = "kimi-k3"
sandbox_mode = "workspace-write"
\`\`\`

For help while typing, put this on the first line (the path of the installed package):

\`\`\`toml
#:schema ./node_modules/open-interpreter/config.schema.json
\`\`\`

## Layers

Later ones win. Tables are merged key by key, everything else is replaced.

1. The defaults below.
2. \`/etc/openinterpreter/config.toml\`.
3. \`config.toml\` in the home (\`--ignore-user-config\` skips it).
4. \`.openinterpreter/config.toml\` in the project root and every folder down to the working directory, when the project
   is trusted. The root is the nearest folder with one of \`project_root_markers\`. A project can't set
   \`model_provider\`, \`model_providers\`, \`openai_base_url\`, \`oss_provider\`, \`notify\`, \`otel\`, \`profile\`, \`profiles\`
   and \`projects\`.
5. The profile (\`-p NAME\`, or the key \`profile\`): \`[profiles.NAME]\`, then the file \`NAME.config.toml\` in the home.
6. \`-c key=value\`, \`--enable\`, \`--disable\`, then the \`config\` of a call.
7. Flags and arguments of their own (\`model\`, \`sandbox\`, \`approval-policy\`, ...).

A project is trusted when the system or user file (or an override) says so, for the folder, the project root, or the
main repository of a git worktree:

\`\`\`toml
[projects."/home/me/code/site"]
trust_level = "trusted"
\`\`\`

An entry also decides what holds where nothing else is set: \`sandbox_mode\` is then \`workspace-write\`, git work tree or
not, and \`untrusted\` makes the approval policy \`untrusted\`.

Relative paths belong to the folder of the file they stand in, in overrides to the working directory of the process;
\`~\` is the person's own folder.

## Overrides

\`-c key=value\` takes a dotted key and a value in TOML notation; what is no TOML is taken as text. The \`config\` argument
of the \`codex\` tool is an object whose keys may be dotted. \`null\` is left out. An empty \`mcp_servers\` there means none.

## Mistakes

A value that can't be is an error with file, line, column and what is allowed. Unknown keys in files are ignored unless
\`--strict-config\` is given; in overrides and in a call's \`config\` they are errors. Keys that other programs of this kind
know and that have no effect here are accepted with a warning (they are listed at the end).
`;

function sections(): string {
  const top = Object.entries({ ...CONFIG_KEYS, ...PROFILE_KEYS });
  const plain = top.filter(([, node]) => node.kind === 'value');
  const rows = plain.flatMap(([key, node]) => rowsOf(node, key));
  const rest = top.filter(([, node]) => node.kind !== 'value');
  const parts = [`### Top level\n\n${tableOf(rows)}`];
  for (const [key, node] of rest) {
    const header = node.kind === 'map' ? `${key}.<${node.name}>` : key;
    const body = key === 'profiles' ? [] : rowsOf(node, key);
    parts.push(`### \`[${header}]\`\n\n${node.doc}\n${body.length === 0 ? '' : `\n${tableOf(body, `${header}.`)}`}`);
  }
  return parts.join('\n');
}

type Row = { readonly key: string; readonly type: string; readonly default: string; readonly doc: string };

function rowsOf(node: KeyNode, key: string): Row[] {
  switch (node.kind) {
    case 'value': {
      const fallback = node.default === null ? '' : code(node.default);
      return [{ key, type: typeName(z.toJSONSchema(node.type()) as Schema), default: fallback, doc: node.doc }];
    }
    case 'table':
      return Object.entries(node.keys).flatMap(([name, below]) => rowsOf(below, `${key}.${name}`));
    case 'map':
      return rowsOf(node.each, `${key}.<${node.name}>`);
  }
}

function tableOf(rows: readonly Row[], prefix = ''): string {
  const lines = rows.map(row => {
    const key = row.key.startsWith(prefix) ? row.key.slice(prefix.length) : row.key;
    return `| \`${key}\` | ${cell(row.type)} | ${cell(row.default)} | ${cell(row.doc)} |`;
  });
  return `| key | type | default | meaning |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
}

function code(described: string): string {
  const isValue = parseTomlValue(described) !== undefined || /^[a-z-]+$/.test(described);
  return isValue ? `\`${described}\`` : described;
}

function typeName(schema: Schema): string {
  const choices = schema['enum'];
  if (Array.isArray(choices)) return choices.map(choice => `\`${String(choice)}\``).join(', ');
  const forms = schema['anyOf'];
  if (Array.isArray(forms)) return forms.map((form: Schema) => typeName(form)).join(', ');
  switch (schema['type']) {
    case 'string':
      return 'text';
    case 'array':
      return `list of ${typeName(schema['items'] as Schema)}`;
    case 'object':
      return 'table';
    default:
      return String(schema['type'] ?? schema['const']);
  }
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

const PROVIDERS = `## Built-in providers

Keys of \`[model_providers.<id>]\` with one of these ids replace what is built in, one by one. Without
\`model_provider\`, \`openai\` is used; when its key is missing and exactly one other provider of this table has its key in
the environment, that one is (not \`github-models\` and \`huggingface\`, whose variables serve other programs).
\`--oss\` uses \`ollama\` or \`lmstudio\`; \`CODEX_OSS_PORT\` and \`CODEX_OSS_BASE_URL\` change where they are.
`;

function providerTable(): string {
  const rows = Object.entries(BUILT_IN_PROVIDERS).map(([id, one]) => {
    const variable = one.env_key ?? Object.values(one.env_http_headers ?? {})[0];
    const cells = [id, one.base_url, one.wire_api, variable, one.default_model].map(x => (x == null ? '' : `\`${x}\``));
    return `| ${cells.join(' | ')} |`;
  });
  return `| id | base URL | wire | key in | default model |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function idleKeys(): string {
  const byTable = new Map<string, string[]>();
  for (const key of KNOWN_KEYS) {
    const dot = key.lastIndexOf('.');
    const header = dot < 0 ? 'top level' : `\`[${key.slice(0, dot)}]\``;
    byTable.set(header, [...(byTable.get(header) ?? []), `\`${key.slice(dot + 1)}\``]);
  }
  const lines = [...byTable].map(([header, names]) => `- ${header}: ${names.join(', ')}`);
  return `## Keys without effect\n\nAccepted, with a warning.\n\n${lines.join('\n')}\n`;
}
