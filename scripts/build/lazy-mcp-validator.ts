/**
 * The MCP SDK loads a JSON Schema validator (a third of its code) when it is imported, and needs it only to check the
 * answer to an elicitation or a tool's structured output. This plugin puts a class in its place that loads the same
 * validator at its first use.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const SHIMS = /@modelcontextprotocol[\\/](server|client)[\\/]dist[\\/]shimsNode\.mjs$/;
const EAGER_IMPORT = /^import \{ \w+ as AjvJsonSchemaValidator \} from "\.\/ajvProvider-[\w-]+\.mjs";$/m;

export const lazyMcpValidator: Plugin = {
  name: 'lazy-mcp-validator',
  setup(build) {
    build.onLoad({ filter: SHIMS }, async args => {
      const source = await readFile(args.path, 'utf8');
      if (!EAGER_IMPORT.test(source)) {
        throw new Error(
          `${args.path} no longer imports its validator in the known way: update scripts/build/lazy-mcp-validator.ts.`,
        );
      }
      return { contents: source.replace(EAGER_IMPORT, lazyValidator(SHIMS.exec(args.path)?.[1] ?? '')) };
    });
  },
};

function lazyValidator(sdk: string): string {
  return `class AjvJsonSchemaValidator {
  #validator;
  getValidator(schema) {
    this.#validator ??= new (require('@modelcontextprotocol/${sdk}/validators/ajv').AjvJsonSchemaValidator)();
    return this.#validator.getValidator(schema);
  }
}`;
}
