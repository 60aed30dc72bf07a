/**
 * The MCP SDK builds some two hundred zod schemas when it is imported, which takes longer than everything else at the
 * start of the server, and needs a handful of them. This plugin makes each schema at its first use: in the modules of
 * the SDK it turns `const XSchema = <expression>` into a function that makes the value once, and every use of
 * `XSchema` into a call. Constants that are computed from schemas become functions in the same way.
 *
 * It works on the syntax tree and knows nothing of single schemas. What it can't follow safely (a name that is
 * declared twice, say) fails the build.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import { type ModuleExportName, type Node, type ParseResult, parseSync, visitorKeys } from 'oxc-parser';

const SDK_MODULE = /@modelcontextprotocol[\\/](core|server|client)[\\/]dist[\\/][\w\\/-]+\.mjs$/;
/** Modules that other code imports; they must not hand out what has become a function. */
const PUBLIC_MODULE = /(server|client)[\\/]dist[\\/](index|stdio)\.mjs$/;
/** Where the schemas are defined. */
const SCHEMA_MODULE = /core[\\/]dist[\\/](schemas|auth)-[\w-]+\.mjs$/;

export const lazyMcpSchemas: Plugin = {
  name: 'lazy-mcp-schemas',
  setup(build) {
    const modules = new Map<string, SdkModule>();
    build.onLoad({ filter: SDK_MODULE }, args => ({ contents: rewrite(readModule(args.path, modules)) }));
    build.onResolve({ filter: /^@modelcontextprotocol\/core(\/|$)/ }, ({ importer }) => {
      if (SDK_MODULE.test(importer)) return undefined;
      return { errors: [{ text: `${importer} imports schemas of the MCP SDK, which the build makes lazy.` }] };
    });
  },
};

type SdkModule = {
  readonly path: string;
  readonly source: string;
  readonly program: ParseResult['program'];
  /** Names of this module, imported ones too, whose value is lazy. */
  readonly lazy: ReadonlySet<string>;
  /** Exported name -> name in the module. */
  readonly exports: ReadonlyMap<string, string>;
};

type Edit = { readonly start: number; readonly end: number; readonly text: string };

function readModule(path: string, modules: Map<string, SdkModule>): SdkModule {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const source = deferRegistration(path, readFileSync(path, 'utf8'));
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} does not parse.`);
  const exports = new Map<string, string>();
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue;
    if (statement.declaration !== null || statement.source !== null)
      throw new Error(`${path}: unknown form of export.`);
    for (const { local, exported } of statement.specifiers) exports.set(nameOf(exported), nameOf(local));
  }
  const lazy = importedLazyNames(path, program, modules);
  // A constant can be computed from a later one only inside a function, so one pass in order finds all.
  for (const statement of program.body) {
    const name = constantName(statement);
    if (name === null) continue;
    const isSchema = SCHEMA_MODULE.test(path) && name.endsWith('Schema');
    if (isSchema || uses(statement, lazy).some(use => !use.deferred)) lazy.add(name);
  }
  if (PUBLIC_MODULE.test(path)) {
    for (const name of exports.values()) if (lazy.has(name)) throw new Error(`${path} exports ${name}, which is lazy.`);
  }
  const read: SdkModule = { path, source, program, lazy, exports };
  modules.set(path, read);
  return read;
}

/**
 * One module puts all schemas into a table as soon as it is loaded, which would make them all. Here the table gets
 * functions that give them.
 */
function deferRegistration(path: string, source: string): string {
  if (!source.includes('SPEC_SCHEMA_KEYS')) return source;
  const authSchemas = /^const authSchemas = \{([\s\w,]+)\};$/m.exec(source)?.[1]?.match(/\w+/g) ?? [];
  const replacements = [
    [
      '_specTypeSchemas[name] = schema;',
      'Object.defineProperty(_specTypeSchemas, name, { enumerable: true, get: schema });',
    ],
    ['(v) => schema.safeParse(v).success', '(v) => schema().safeParse(v).success'],
    ['register(key, schemas_exports[key])', 'register(key, () => schemas_exports[key])'],
    [
      'for (const [key, schema] of Object.entries(authSchemas)) register(key, schema);',
      `for (const key of ${JSON.stringify(authSchemas)}) register(key, () => authSchemas[key]);`,
    ],
  ] as const;
  let text = source;
  for (const [from, to] of replacements) {
    if (authSchemas.length === 0 || text.split(from).length !== 2) {
      throw new Error(
        `${path} no longer registers its schemas in the known way: update scripts/build/lazy-mcp-schemas.ts.`,
      );
    }
    text = text.replace(from, to);
  }
  return text;
}

function importedLazyNames(
  path: string,
  program: ParseResult['program'],
  modules: Map<string, SdkModule>,
): Set<string> {
  const lazy = new Set<string>();
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration') continue;
    const target = sdkModule(path, statement.source.value);
    if (target === null) continue;
    const { lazy: theirs, exports } = readModule(target, modules);
    for (const specifier of statement.specifiers) {
      if (specifier.type !== 'ImportSpecifier') continue;
      if (theirs.has(exports.get(nameOf(specifier.imported)) ?? '')) lazy.add(specifier.local.name);
    }
  }
  return lazy;
}

/** The file of an import when it is a module of the SDK. */
function sdkModule(from: string, request: string): string | null {
  if (request.startsWith('.')) return join(dirname(from), request);
  if (!request.startsWith('@modelcontextprotocol/core')) return null;
  const dist = dirname(createRequire(from).resolve('@modelcontextprotocol/core'));
  const name = request.slice('@modelcontextprotocol/core'.length);
  return [`${name}.mjs`, `${name}/index.mjs`].map(file => join(dist, file)).find(file => existsSync(file)) ?? null;
}

function rewrite({ path, source, program, lazy }: SdkModule): string {
  const edits: Edit[] = [];
  for (const statement of program.body) {
    const name = constantName(statement);
    const init = statement.type === 'VariableDeclaration' ? statement.declarations[0]?.init : null;
    const isLazy = name !== null && lazy.has(name) && init != null;
    if (isLazy)
      edits.push({ start: statement.start, end: init.start, text: `let ${name}$;const ${name}=()=>${name}$??=(` });
    for (const use of uses(statement, lazy)) {
      if (source.slice(use.start, use.end) !== use.name)
        throw new Error(`${path}: ${use.name} is not where it should be.`);
      edits.push({ start: use.end, end: use.end, text: use.shorthand ? `:${use.name}()` : '()' });
    }
    if (isLazy) edits.push({ start: init.end, end: init.end, text: ')' });
  }
  let [text, at] = ['', 0];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    text += source.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + source.slice(at);
}

/** The name of a top-level `const name = value;`, else null. */
function constantName(statement: Node): string | null {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return null;
  const [declaration] = statement.declarations;
  if (statement.declarations.length !== 1 || declaration?.id.type !== 'Identifier') return null;
  return declaration.id.name;
}

type Use = {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** Inside a function, so evaluated later. */
  readonly deferred: boolean;
  /** `{ name }`: the name is the key as well. */
  readonly shorthand: boolean;
};

/** Where the names are read in a top-level statement. Throws where a use can't be turned into a call. */
function uses(statement: Node, names: ReadonlySet<string>): Use[] {
  const found: Use[] = [];
  const definition = statement.type === 'VariableDeclaration' ? statement.declarations[0] : null;
  const visit = (node: Node, deferred: boolean): void => {
    if (node.type === 'Identifier') {
      if (names.has(node.name)) found.push(useOf(node, deferred, false));
    } else if (node.type === 'Property' && node.shorthand && node.value.type === 'Identifier') {
      if (names.has(node.value.name)) found.push(useOf(node.value, deferred, true));
    } else {
      if (node !== definition) refuseDeclarations(node, names);
      const isLater = deferred || isFunction(node) || (node.type === 'PropertyDefinition' && !node.static);
      for (const child of readParts(node)) visit(child, isLater);
    }
  };
  visit(statement, false);
  return found;
}

function useOf(
  { name, start, end }: { name: string; start: number; end: number },
  deferred: boolean,
  shorthand: boolean,
): Use {
  return { name, start, end, deferred, shorthand };
}

function isFunction(node: Node): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);
}

/** The children of a node in which an identifier is the read of a variable, not a name of something. */
function readParts(node: Node): Node[] {
  if (node.type === 'ImportDeclaration' || node.type === 'ExportNamedDeclaration') return [];
  if (node.type === 'MemberExpression') return node.computed ? [node.object, node.property] : [node.object];
  const names: Node[] = [];
  if (node.type === 'Property' || node.type === 'PropertyDefinition' || node.type === 'MethodDefinition') {
    if (!node.computed) names.push(node.key);
  } else if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier') {
    names.push(node.id);
  }
  const children = (visitorKeys[node.type] ?? []).flatMap((key): unknown => Reflect.get(node, key));
  return children.filter(isNode).filter(child => !names.includes(child));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** A lazy name declared again inside a function would be called by mistake; `new X()` can't be turned into a call. */
function refuseDeclarations(node: Node, names: ReadonlySet<string>): void {
  const declared =
    isFunction(node) && 'params' in node ? node.params : node.type === 'VariableDeclarator' ? [node.id] : [];
  const called = node.type === 'NewExpression' ? [node.callee] : [];
  for (const part of [...declared, ...called]) {
    if (part.type === 'Identifier' && names.has(part.name)) {
      throw new Error(
        `The MCP SDK uses the lazy ${part.name} in a way scripts/build/lazy-mcp-schemas.ts does not know.`,
      );
    }
  }
}

function nameOf(node: ModuleExportName): string {
  return node.type === 'Literal' ? node.value : node.name;
}
