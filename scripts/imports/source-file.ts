import { type Program, parseSync, Visitor } from 'oxc-parser';

export type Import = {
  /** As written: "./x.js", "../util/index.js", "node:fs", "zod". */
  readonly request: string;
  /** What `import { a, b as c }` takes: a and b; empty for the other kinds. */
  readonly names: readonly string[];
  readonly line: number;
};

export type SourceFile = {
  /** All kinds: `import`, `import type`, `export ... from`, `import()`, and `import('x').Y` as a type. */
  readonly imports: readonly Import[];
  /** Uses of `process.env` and `process.argv`, also through `import { env } from 'node:process'`. */
  readonly processProperties: readonly { readonly property: string; readonly line: number }[];
  readonly opensWithComment: boolean;
};

/** Reads one TypeScript file. Throws when it does not parse. */
export function readSourceFile(path: string, text: string): SourceFile {
  const result = parseSync(path, text);
  const [error] = result.errors;
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`);
  const found: Found = [];
  const properties: Properties = [];
  const { module, program } = result;
  for (const { moduleRequest, entries } of module.staticImports) {
    const names = entries.flatMap(({ importName }) => importName.name ?? []);
    found.push({ request: moduleRequest.value, names, start: moduleRequest.start });
    if (!/^(node:)?process$/.test(moduleRequest.value)) continue;
    for (const { importName, localName } of entries) {
      if (importName.name != null) properties.push({ property: importName.name, start: localName.start });
    }
  }
  for (const entry of module.staticExports.flatMap(statement => statement.entries)) {
    if (entry.moduleRequest !== null) found.push({ request: entry.moduleRequest.value, names: [], start: entry.start });
  }
  walk(program, found, properties);
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  return {
    imports: found.map(({ request, names, start }) => ({ request, names, line: lineOf(start) })),
    processProperties: properties.map(({ property, start }) => ({ property, line: lineOf(start) })),
    opensWithComment: text.startsWith('/*') || text.startsWith('//'),
  };
}

type Found = { request: string; names: readonly string[]; start: number }[];
type Properties = { property: string; start: number }[];

function walk(program: Program, found: Found, properties: Properties): void {
  new Visitor({
    ImportExpression({ source, start }) {
      if (source.type === 'Literal' && typeof source.value === 'string')
        found.push({ request: source.value, names: [], start });
    },
    TSImportType({ source, start }) {
      found.push({ request: source.value, names: [], start });
    },
    MemberExpression({ object, property, start }) {
      if (object.type !== 'Identifier' || object.name !== 'process') return;
      if (property.type === 'Identifier') properties.push({ property: property.name, start });
      else if (property.type === 'Literal') properties.push({ property: String(property.value), start });
    },
    VariableDeclarator({ id, init, start }) {
      if (init?.type !== 'Identifier' || init.name !== 'process' || id.type !== 'ObjectPattern') return;
      for (const entry of id.properties) {
        if (entry.type === 'Property' && entry.key.type === 'Identifier')
          properties.push({ property: entry.key.name, start });
      }
    },
  }).visit(program);
}
